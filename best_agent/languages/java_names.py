"""What a Java source must be called, and which of its classes is started."""

import re
from dataclasses import dataclass

DEFAULT = "Main"
_LONGEST = 100
# An end that is missing is taken to be the text's, so that each character is looked at once.
_NOISE = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|"(?:\\.|[^"\\\n])*"?'
    r"|'(?:\\.|[^'\\\n])*'?|//[^\n]*|/\*.*?(?:\*/|\Z)",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"[{};]|\bpublic\b|(?<![.\w])(?:class|interface|enum|record)\s+(?P<type>\w+)|\bvoid\s+(?P<main>main)\s*\("
)
_PACKAGE = re.compile(r"\bpackage\s+([\w.]+)\s*;")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """How one source is compiled and started."""

    file: str
    """The public class's, as the compiler demands."""
    main: str
    """Class to start, with its package."""


def names_in(text: str) -> Names:
    """Names by the text alone: the public class if it can be started, else the first that can."""
    code = _NOISE.sub(" ", text)
    depth, is_public, current = 0, False, DEFAULT
    public: str | None = None
    starts: list[str] = []
    for token in _TOKEN.finditer(code):
        word = token[0]
        if word in "{};":
            depth += {"{": 1, "}": -1, ";": 0}[word]
            is_public = is_public and depth > 0
        elif depth == 0:
            is_public = is_public or word == "public"
            current = token["type"] or current
            if token["type"] and is_public:
                public = current
        elif depth == 1 and token["main"]:
            starts.append(current)
    package = _PACKAGE.search(code)
    chosen = public if public in starts or not starts else starts[0]
    prefix = f"{package[1]}." if package else ""
    # No file has a longer name; the compiler will say so.
    file = public if public and len(public) <= _LONGEST else DEFAULT
    return Names(file=f"{file}.java", main=prefix + (chosen or current))
