"""From a model's answer to a whole program: fenced blocks, prose, thinking, and what goes wrong with them."""

import ast
import json
import re
import textwrap
import warnings
from dataclasses import dataclass

from best_agent.model.refinement import Reason

_LABELS = {
    "python": frozenset({"python", "py", "python3", "py3"}),
    "cpp": frozenset({"cpp", "c++", "cc", "cxx", "c"}),
}
_UNLABELLED = frozenset({"", "text", "txt", "code", "plaintext", "plain"})
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<label>[^`\s]*)[^`\n]*$")
_THINKING = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINKING_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THINKING_OPEN = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_CODE_START = {
    "python": re.compile(r"^(?:def |async def |class |import |from \w[\w.]* import |@\w)"),
    "cpp": re.compile(r"^(?:#\s*include|using namespace|class \w|struct \w|template\s*<|namespace \w)"),
}
_MAX_TRIMMED_LINES = 200
_JSON_KEYS = ("code", "source", "solution", "program")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The program of an answer, or why there is none."""

    code: str | None
    problem: Reason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    label: str
    text: str
    closed: bool


def extract_code(answer: str, *, language: str, entry: str | None, cut_off: bool = False) -> Extraction:
    """The whole program in an answer.

    Of several blocks the last one that defines the entry is taken: models that correct themselves
    write the better version last, and examples of use do not define it.

    Args:
        answer: what the model wrote.
        language: `python` or `cpp`.
        entry: name that the program must define; None where there is none (program mode).
        cut_off: the server says that the answer ended at a limit of its length.
    """
    # Half of a surrogate pair is no text that could be written or compiled.
    text = answer.encode("utf-8", errors="replace").decode("utf-8")
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if not text.strip():
        return _nothing(Reason.EMPTY_ANSWER, "the answer is empty")
    text = _without_thinking(text)
    if not text.strip():
        return _nothing(Reason.TRUNCATED, "the answer ended while the model was still thinking")
    text = _from_json(text) or text
    blocks = _blocks(text)
    if not blocks:
        return _from_prose(text, language, entry, cut_off)
    return _from_blocks(blocks, language, entry, cut_off)


def defines(code: str, language: str, entry: str | None) -> bool:
    """Whether a program defines its entry point at its top level (C++: names it before a parenthesis)."""
    if entry is None:
        return True
    tree = _parsed(code) if language == "python" else None
    if tree is None:
        head = r"(?:def|class)\s+" if language == "python" else r"\b"
        return re.search(rf"{head}{re.escape(entry)}\s*[(:=]", code) is not None
    return any(entry in _bound_names(node) for node in tree.body)


def _bound_names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.ImportFrom | ast.Import):
        return {alias.asname or alias.name for alias in node.names}
    return set()


def _without_thinking(text: str) -> str:
    text = _THINKING.sub("", text)
    ends = list(_THINKING_END.finditer(text))
    if ends:
        # Some servers strip the opening tag only: all before the last end was thinking.
        text = text[ends[-1].end() :]
    opening = _THINKING_OPEN.search(text)
    if opening is not None and not text[: opening.start()].strip():
        return ""
    return text


def _from_json(text: str) -> str | None:
    """The code of an answer that is a JSON object, as some models give when they were told so once."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return next((value[key] for key in _JSON_KEYS if isinstance(value.get(key), str)), None)


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    fence: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence is None:
            if match is not None:
                fence, lines = match, []
        elif match is not None and _closes(match, fence):
            blocks.append(_block(fence, lines, closed=True))
            fence = None
        else:
            lines.append(line)
    if fence is not None:
        blocks.append(_block(fence, lines, closed=False))
    return blocks


def _closes(match: re.Match[str], fence: re.Match[str]) -> bool:
    same = match["marks"][0] == fence["marks"][0]
    return same and len(match["marks"]) >= len(fence["marks"]) and not match["label"]


def _block(fence: re.Match[str], lines: list[str], *, closed: bool) -> _Block:
    text = "\n".join(lines)
    if fence["indent"]:
        text = textwrap.dedent(text)
    # `python:solve.py` and `{.python}` are seen, too.
    label = re.match(r"[{.]*([\w+#-]*)", fence["label"])
    return _Block(label=label[1].lower() if label else "", text=text.strip("\n") + "\n", closed=closed)


def _from_blocks(blocks: list[_Block], language: str, entry: str | None, cut_off: bool) -> Extraction:
    blocks = [block for block in blocks if block.text.strip()]
    mine = [block for block in blocks if _speaks(block, language)]
    if not mine:
        if any(_is_diff(block) for block in blocks):
            return _nothing(Reason.DIFF, "the answer is a diff; the whole program was asked for")
        labels = sorted({block.label for block in blocks if block.label})
        if labels:
            line = f"the code is labelled {', '.join(labels)[:60]}; {language} was asked for"
            return _nothing(Reason.WRONG_LANGUAGE, line)
        return _nothing(Reason.NO_CODE, "the blocks of the answer are empty")
    fitting = [block for block in mine if defines(block.text, language, entry)]
    if not fitting:
        return _nothing(Reason.NO_ENTRY, f"no block of the answer defines `{entry}`")
    best = fitting[-1]
    if not best.closed and (cut_off or not _complete(best.text, language)):
        earlier = [block for block in fitting if block.closed]
        if not earlier or cut_off:
            return _nothing(Reason.TRUNCATED, "the answer ends in the middle of the program")
        best = earlier[-1]
    return Extraction(code=best.text)


def _speaks(block: _Block, language: str) -> bool:
    if _is_diff(block):
        return False
    if block.label in _LABELS[language]:
        return True
    return block.label in _UNLABELLED and _looks_like(block.text, language)


def _looks_like(code: str, language: str) -> bool:
    """Whether unlabelled text may be of the language; only clear signs of another one speak against."""
    if language == "cpp":
        return "{" in code or ";" in code
    return (
        _parsed(code) is not None
        or re.search(r"^\s*(?:def|class|import|from)\b", code, re.MULTILINE) is not None
    )


def _is_diff(block: _Block) -> bool:
    if block.label in ("diff", "patch", "udiff"):
        return True
    head = block.text.lstrip("\n")
    if head.startswith(("--- ", "diff --git ", "@@ ", "<<<<<<< ", "*** Begin Patch")):
        return True
    return re.search(r"^<{7} (?:SEARCH|ORIGINAL|HEAD)", block.text, re.MULTILINE) is not None


def _from_prose(text: str, language: str, entry: str | None, cut_off: bool) -> Extraction:
    """Code without fences: the whole text, or what stands between the first and the last line of it."""
    if _is_diff(_Block(label="", text=text, closed=True)):
        return _nothing(Reason.DIFF, "the answer is a diff; the whole program was asked for")
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _CODE_START[language].match(line)), None)
    if _complete(text, language) and defines(text, language, entry):
        start = 0  # the whole answer is the program, with comments before its first statement
    if start is None:
        return _nothing(Reason.NO_CODE, "there is no code in the answer")
    code = _trimmed(lines[start:], language)
    if code is None or cut_off:
        return _nothing(Reason.TRUNCATED if cut_off else Reason.NO_CODE, "the answer holds no whole program")
    if not defines(code, language, entry):
        return _nothing(Reason.NO_ENTRY, f"the code of the answer does not define `{entry}`")
    return Extraction(code=code)


def _trimmed(lines: list[str], language: str) -> str | None:
    """The longest beginning of the lines that is a whole program, without the prose behind it."""
    for end in range(len(lines), max(len(lines) - _MAX_TRIMMED_LINES, 0), -1):
        code = "\n".join(lines[:end]).strip("\n") + "\n"
        if _complete(code, language):
            return code
    return None


def _complete(code: str, language: str) -> bool:
    """Whether the text is a whole program: it parses, or (C++) its braces are closed by its last line."""
    if language == "python":
        return _parsed(code) is not None
    body = code.rstrip()
    return body.count("{") == body.count("}") > 0 and body.endswith(("}", ";"))


def _parsed(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            # Invalid escapes in a stranger's code are not the reader's concern.
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _nothing(problem: Reason, detail: str) -> Extraction:
    return Extraction(code=None, problem=problem, detail=detail)
