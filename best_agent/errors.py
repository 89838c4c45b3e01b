"""The errors a user can meet, each with the exit code the command line ends with."""


class BestAgentError(Exception):
    """One clear line for the user: what is wrong and what to do about it."""

    exit_code = 2


class UsageError(BestAgentError):
    """The command line, a file or the configuration asks for something that cannot be."""


class TaskError(UsageError):
    """A task of the catalogue or of an imported set is not usable as it stands.

    The message names the file and, where there is one, the key.
    """


class ResultsError(UsageError):
    """Existing results that `report` was asked to read are malformed or cannot be scored."""


class MissingExtraError(UsageError):
    """A verb needs an optional package that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part; install it with: pip install 'best-agent[{extra}]'")


class MeasureError(BestAgentError):
    """The measurement itself failed (harness trouble); it is never scored as the candidate's."""

    exit_code = 3


class IsolationError(BestAgentError):
    """The isolation that was asked for cannot be had on this machine. Nothing was run."""
