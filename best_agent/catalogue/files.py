"""Reading the files of a task: bounded, UTF-8, and never outside of the task's folder."""

from pathlib import Path

from best_agent.errors import TaskError

MAX_TEXT_BYTES = 1 << 20


def file_inside(folder: Path, name: str, where: str) -> Path:
    """The regular file `name` of a task's folder.

    Args:
        folder: The task's folder.
        name: As the task wrote it: a relative path.
        where: File and key that the name stands in, for messages.

    Raises:
        TaskError: there is no such file, or the path or a link in it leads out of the folder.
    """
    if "\0" in name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise TaskError(f"{where}: {name!r} must be a file within the task's folder")
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise TaskError(f"{where}: '{name}' leads out of the task's folder")
        if not path.is_file():
            raise TaskError(f"{where}: there is no file {path}")
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, on Python before 3.13
        raise TaskError(f"{where}: cannot look at {path}: {error}") from None
    return path


def read_text(path: Path) -> str:
    """A text file of at most 1 MiB.

    Raises:
        TaskError: it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_TEXT_BYTES + 1)
        if len(content) > MAX_TEXT_BYTES:
            raise TaskError(f"{path}: larger than {MAX_TEXT_BYTES >> 20} MiB")
        return content.decode("utf-8")
    except OSError as error:
        raise TaskError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: not UTF-8: byte {error.start} is 0x{content[error.start]:02x}") from None
