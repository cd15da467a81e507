r"""What reaches a terminal: characters that steer it, reorder text or cannot be seen are written out.

``escaped`` is the only escape. ``guarded`` puts it between every ``print`` of a command and the terminal, and
``console`` between rich and the terminal, so that no command can forget it. ``\u202e`` for U+202E means the same
inside a JSON string: JSON that passes is still exact.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Controls except tab and line feed, line separators, marks and overrides of direction, characters without width,
# surrogates; joiners only where they do not join letters, as they do in Persian, in Hindi and in emoji.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e00ff]"
    "|(?<![^\x00-\x7f\u2000-\u206f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u2000-\u206f])"
)


def escaped(text: str, lines: bool = True) -> str:
    r"""Return a text whose unsafe characters are written as ``\uXXXX``, above U+FFFF as two of them.

    Args:
        text: The text.
        lines: Keep line feeds; without, they are written as ``\n``.
    """
    text = _UNSAFE.sub(lambda found: _units(found[0]), text)
    return text if lines else text.replace("\n", "\\n")


def on_one_line(text: str) -> str:
    """Return a text on one line for a screen: runs of white space become a blank, the rest as ``escaped``."""
    return escaped(" ".join(text.split()))


def _units(text: str) -> str:
    r"""Write each UTF-16 unit of a text as ``\uXXXX``."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _shown(text: str, encoding: str | None) -> str:
    """Escape a text, and what an encoding lacks."""
    safe, encoding = escaped(text), encoding or "utf-8"
    if safe.isascii() or encoding.lower().startswith("utf"):
        return safe
    return "".join(char.encode(encoding, "ignore").decode(encoding) or _units(char) for char in safe)


class _Guard:
    """A stream that escapes what is written to ``raw``."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write a text."""
        self.raw.write(_shown(text, self.raw.encoding))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def unguarded(stream: Any) -> Any:
    """Return the terminal behind a stream, for a display that makes its own control sequences."""
    return stream.raw if isinstance(stream, _Guard) else stream


@contextmanager
def guarded() -> Iterator[None]:
    """Escape what is printed, by whomever, until the end."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream and _Guard(unguarded(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def console(stderr: bool = False, **settings: Any) -> Console:
    """Make a console of rich that writes texts as they are, without markup, and escapes them.

    Args:
        stderr: Write to the standard error.
        **settings: Further settings of ``rich.console.Console``.
    """
    from rich.console import Console
    from rich.file_proxy import FileProxy

    class Escaping(Console):
        def render_str(self, text: str, **options: Any) -> Any:  # before it is measured
            return super().render_str(_shown(text, self.encoding), **options)

        def render(self, *args: Any, **options: Any) -> Any:
            for segment in super().render(*args, **options):
                yield segment if segment.control else segment._replace(text=_shown(segment.text, self.encoding))

        def push_render_hook(self, hook: Any) -> None:
            # A display that starts puts streams of its own before the terminal, which read escapes as styles.
            super().push_render_hook(hook)
            for name in ("stdout", "stderr"):
                if isinstance(stream := getattr(sys, name), FileProxy):
                    setattr(sys, name, _Guard(stream))

    stream = unguarded(sys.stderr if stderr else sys.stdout)
    return Escaping(file=stream, **{"markup": False, "highlight": False, "emoji": False, **settings})
