"""The parser behind every verb: help that fits the terminal, and mistakes told in one line."""

import argparse
import itertools
import textwrap
from typing import Any, NoReturn


class HelpFormatter(argparse.HelpFormatter):
    """Refills paragraphs to the width of the terminal and leaves indented lines (examples) as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        for is_prose, grouped in itertools.groupby(text.splitlines(), _is_prose):
            group = list(grouped)
            lines += textwrap.wrap(" ".join(group), width) if is_prose else group
        return "\n".join(indent + line for line in lines)


class VerbParser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line: what is wrong, and where the flags are explained."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  (what ArgumentParser takes)
        settings.setdefault("formatter_class", HelpFormatter)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2, as argparse does, but without the list of all flags."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _is_prose(line: str) -> bool:
    return bool(line) and not line[0].isspace()
