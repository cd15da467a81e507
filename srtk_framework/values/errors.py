"""The errors that the framework raises; each message says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class SrtkError(Exception):
    """Base of every error raised on purpose by the framework or a driver."""


class RecipeError(SrtkError):
    """A recipe cannot be run as written; holds every problem found, not only the first.

    Args:
        problems: One sentence each, starting with ``file:line:column`` where the place is known.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class PluginError(SrtkError):
    """A driver cannot be found, loaded or accepted."""


class DriverError(SrtkError):
    """A driver failed, or broke the contract of its role.

    Args:
        message: What went wrong and what to do about it.
        driver: Name of the driver, as in ``use:``, filled in by the port where it is not given.
    """

    def __init__(self, message: str, driver: str = "") -> None:
        self.driver = driver
        super().__init__(message)

    def __str__(self) -> str:
        message = super().__str__()
        return f"{self.driver}: {message}" if self.driver else message


class InputError(SrtkError):
    """Data given by the user cannot be read: a malformed line, a missing field, a missing file."""


class SnapshotError(SrtkError):
    """A graph snapshot is missing, truncated, or of another version."""


class RunError(SrtkError):
    """A run cannot start or go on, for a reason outside of a single question."""


def close_matches(word: str, known: Sequence[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest known words, or an empty string."""
    import difflib

    found = difflib.get_close_matches(word, known, n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(f) for f in found)}?" if found else ""
