"""Pure statistics of paired figures: intervals, sequential looks, growth."""
