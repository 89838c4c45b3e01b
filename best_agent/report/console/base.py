"""A rich console that renders to text, so that every renderer is a pure function of its values."""

import io
from collections.abc import Callable

from rich.console import Console


def render(draw: Callable[[Console], None], *, colour: bool, width: int | None = None) -> str:
    """The text that `draw` prints on a console; without colour there are no control codes in it."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=colour,
        no_color=not colour,
        width=width or (None if colour else 110),
        highlight=False,
        soft_wrap=False,
    )
    draw(console)
    return buffer.getvalue()
