"""Errors raised by the framework; each message names the fault, its place and the remedy."""

from __future__ import annotations

from collections.abc import Sequence


class SrtkError(Exception):
    """Base of every error raised on purpose by the framework or a driver."""


class RecipeError(SrtkError):
    """An invalid recipe, with all of its problems.

    Args:
        problems: One sentence per problem, with ``file:line:column`` in front where the place is known.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class SettingsError(SrtkError, ValueError):
    """Invalid settings, as validators of fields raise it.

    Args:
        problems: (keys and indices that lead to the value inside the block, sentence) pairs.
    """

    def __init__(self, problems: Sequence[tuple[tuple[str | int, ...], str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(text for _, text in self.problems))


class PluginError(SrtkError):
    """A driver cannot be found, loaded or accepted."""


class DriverError(SrtkError):
    """A driver failed, or broke the contract of its role.

    Args:
        message: The fault and its remedy.
        driver: Name of the driver, as in ``use:``; the port adds it if it is missing.
    """

    def __init__(self, message: str, driver: str = "") -> None:
        self.driver = driver
        super().__init__(message)

    def __str__(self) -> str:
        message = super().__str__()
        return f"{self.driver}: {message}" if self.driver else message


class BatchError(DriverError):
    """Some items of a batch failed; the rest have their answers.

    Raised by the port of a driver whose answer is malformed for some items, or has an error in the place of some. Who
    called with the items themselves takes ``answers``, so that nothing is asked again (``values.answered``).

    Args:
        message: The first of the errors.
        driver: Name of the driver.
        answers: The answer or the error of each item.
        matrix: Whether the answers are rows of a matrix.
    """

    def __init__(self, message: str, driver: str, answers: Sequence[object], matrix: bool = False) -> None:
        super().__init__(message, driver)
        self.answers = answers
        self.matrix = matrix


class InputError(SrtkError):
    """The user's data cannot be read: a malformed line, a missing field, a missing file."""


class SnapshotError(SrtkError):
    """A graph snapshot is missing, truncated or of another version."""


class RunError(SrtkError):
    """A run cannot start or continue, for a reason that concerns more than one question."""


class BusyError(RunError):
    """So many calls wait for a session that it takes no further one.

    Args:
        message: What is wrong and what to do.
        retry_after: Seconds after which the waiting calls will be answered, as far as the session can tell.
    """

    def __init__(self, message: str, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class LateError(RunError, TimeoutError):
    """A call was not answered within its ``timeout``; its place in the queue is free again."""


def shortened(text: str, size: int = 60) -> str:
    """Cut a text to ``size`` characters for a message."""
    return text if len(text) <= size else text[: size - 3] + "..."


def close_matches(word: object, known: Sequence[str]) -> str:
    """Return `` Did you mean 'x'?`` with the known words most similar to ``word``, or an empty string.

    A word that is no text, such as a number that stands as a key in YAML, is similar to none.
    """
    # Here, so that the command line starts without it.
    import difflib

    if not isinstance(word, str):
        return ""
    found = difflib.get_close_matches(word, known, n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(f) for f in found)}?" if found else ""
