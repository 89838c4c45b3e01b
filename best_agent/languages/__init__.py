"""Languages: how a source becomes a program; `LANGUAGES` lists them by hand."""
