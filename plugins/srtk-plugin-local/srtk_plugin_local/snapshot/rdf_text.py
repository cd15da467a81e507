"""RDF files as the UTF-8 that the parser reads: without byte-order mark, and from the encoding that they declare."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_files import BLOCK, Input
from srtk_plugin_local.snapshot.limits import MAX_LISTS, MAX_LITERAL, check_whole
from srtk_plugin_local.snapshot.xml_entities import MAX_DOCTYPE

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(r"^\s*<\?xml\b[^>]*?\bencoding\s*=\s*([\"'])([A-Za-z][A-Za-z0-9._-]*)\1")
_COMMENT_OR_ENTITY = re.compile(
    r"<!--.*?(?:-->|\Z)|(<!ENTITY\s+(?:%\s+)?[^\s'\"%]+\s+)(?:'([^']*)'|\"([^\"]*)\")(\s*)>", re.DOTALL
)
_START = re.compile(r"<[^!?\s]")
_DOCTYPE_END = re.compile(r"\]\s*>")
_PACKED = (".gz", ".zst", ".zstd", ".bz2")


# In the place of a literal that is too long; a file that has it itself loses that literal.
LONG_MARK = "srtk: a literal above 16 MB"
_TOKEN = re.compile(rb"\\.|#|<<|<|\"\"\"|'{3}|\"|'", re.DOTALL)
_BODIES = {
    mark: re.compile(body, re.DOTALL)
    for mark, body in (
        (b'"', rb'(?:[^"\\]|\\.)*+'),
        (b"'", rb"(?:[^'\\]|\\.)*+"),
        (b'"""', rb'(?:[^"\\]|\\.|"(?!""))*+'),
        (b"'''", rb"(?:[^'\\]|\\.|'(?!''))*+"),
    )
}
_ENDS = {b"#": re.compile(rb"[\r\n]"), b"<": re.compile(b">")}


class EndlessError(InputError):
    """A token of more than 16 MB."""


def base_of(name: str) -> str:
    """Return the base IRI of a file without a base: its name alone, so that the folder makes no difference."""
    path = Path(name)
    return "file:///" + quote(path.stem if path.suffix.lower() in _PACKED else path.name)


class Utf8Input(Input):
    """An open file of RDF, transcoded while it is read.

    Args:
        name: Path of the file.
        xml: Whether it is XML: its declaration may name an encoding, and entities may have single quotes, which the
            parser does not read.
        dots: Whether ``has_dots`` is to be found out.

    Attributes:
        has_dots: Whether the data so far have ``/./`` or ``/..``, as in a base whose path is not plain.
        names_files: Whether they have ``file:``, as absolute IRIs of files do.
        found: Returns how many triples were found so far; a long stretch without any is refused.
        held: Bytes read since the caller set it to 0.
    """

    def __init__(self, name: str, xml: bool = False, dots: bool = False) -> None:
        super().__init__(name)
        self.has_dots = self.names_files = False
        self.found: Callable[[], int] = int
        self.held = 0
        self._line, self._silent, self._last = 1, 0, 0
        self._open = 0
        self._shortener: _Shortener | None = None
        self._looks_for_dots = dots
        self._rest = b""
        self._at = 0
        self._ended = False
        head = super().read()
        mark, encoding = next(((mark, kind) for mark, kind in _MARKS if head.startswith(mark)), (b"", ""))
        head = head[len(mark) :]
        if not encoding and len(head) >= 4:
            # Text of two bytes a character without a mark: its first characters have a zero each.
            zeros = [not byte for byte in head[:4]]
            encoding = "utf-16-le" if zeros == [False, True] * 2 else "utf-16-be" if zeros == [True, False] * 2 else ""
        text = head[:1024].decode(encoding or "latin-1", "replace")
        declared = _DECLARED.match(text) if xml else None
        if declared is not None and not encoding:
            encoding = declared[2]
        try:
            codec = codecs.lookup(encoding or "utf-8")
        except LookupError as error:
            raise InputError(
                f"{name}: declares the encoding {encoding!r}, which is not known; save it as UTF-8"
            ) from error
        self.encoding = codec.name
        self._decoder = None if codec.name in ("utf-8", "ascii") else codec.incrementaldecoder()
        self._rest = self._decoded(head)
        self.empty = not self._rest.strip()
        if xml:
            self._rest = self._prolog()

    def read(self, size: int = BLOCK) -> bytes:
        """Read about ``size`` bytes of UTF-8; empty at the end of the file."""
        data = self._read(size)
        if self._shortener is not None:
            while not (short := self._shortener.take(data)) and data:
                data = self._read(size)
            data = short
            if not data and self._shortener.is_within:
                raise self.endless()
        if self._looks_for_dots:
            self.has_dots = self.has_dots or b"/./" in data or b"/.." in data
            self.names_files = self.names_files or b"file:" in data
            self._count(data)
        return data

    def _count(self, data: bytes) -> None:
        """Count the bytes since the last triple, which the parser holds if they are one literal, and open brackets."""
        found = self.found()
        if found != self._last:
            self._silent, self._last = 0, found
            opened = sum(map(data.count, (b"(", b"["))) - sum(map(data.count, (b")", b"]")))
            # Text and plain lists do not open a bracket in four bytes for long.
            self._open = self._open + opened if opened > len(data) // 4 else 0
            if self._open > MAX_LISTS:
                raise InputError(f"{self.name}:{self._line}: lists nest deeper than {MAX_LISTS:,} levels; flatten them")
        self._line += data.count(b"\n")
        self._silent += len(data)
        self.held += len(data)
        if self._silent > 2 * MAX_LITERAL:
            raise self.endless()

    @property
    def is_short(self) -> bool:
        """Whether marks stand for literals that are too long."""
        return self._shortener is not None

    def shorten(self, kind: str) -> bool:
        """Begin anew, with a mark for each literal that is too long; False where it did already, or cannot."""
        if kind not in ("turtle", "trig") or self._shortener is not None:
            return False
        found = self.found
        self.__exit__()
        self.__init__(self.name, dots=self._looks_for_dots)  # type: ignore[misc]
        self.found, self._shortener = found, _Shortener()
        return True

    def endless(self) -> EndlessError:
        """Return the error for a token that is too long, at the line that was read last."""
        return EndlessError(
            f"{self.name}:{self._line}: a literal, an IRI or a comment up to this line has more than 16 MB, or does "
            "not end; close, shorten or remove it"
        )

    def whole(self, memory: int, growth: int) -> bytes:
        """Return all content, which ``read`` then returns again.

        Args:
            memory: Bytes of memory for the build.
            growth: Bytes of memory for each byte of content.

        Raises:
            InputError: If the memory is too little for it.
        """
        data = bytearray()
        while block := self._read(BLOCK):
            data += block
            check_whole(self.name, len(data), memory, growth)
        self.put(bytes(data))
        return self._rest

    def put(self, data: bytes) -> None:
        """Let ``read`` return this content instead of the file's."""
        self._rest, self._at, self._ended = data, 0, True

    def _read(self, size: int) -> bytes:
        if self._at == len(self._rest):
            if self._decoder is None:
                return b"" if self._ended else super().read(size)
            self._rest, self._at = self._more(), 0
        data = self._rest[self._at : self._at + size]
        self._at += len(data)
        return data

    def __enter__(self) -> Utf8Input:
        return self

    def _more(self) -> bytes:
        data = b""
        while not data and not self._ended:
            raw = super().read()
            self._ended = not raw
            data = self._decoded(raw)
        return data

    def _decoded(self, data: bytes) -> bytes:
        if self._decoder is None:
            return data
        try:
            return self._decoder.decode(data, not data).encode()
        except (UnicodeError, ValueError) as error:
            raise InputError(f"{self.name}: is not in {self.encoding} ({error}); save it as UTF-8") from error

    def _prolog(self) -> bytes:
        """Return the start of the file, whose prolog is written as the parser reads it."""
        data = self._rest
        while len(data) < MAX_DOCTYPE and not self._ended:
            if _START.search(re.sub(r"<!--.*?(?:-->|\Z)", "", data.decode("latin-1"), flags=re.DOTALL)):
                break
            data += self._more()
        text = data[:MAX_DOCTYPE].decode("utf-8", "surrogateescape")
        declared = _DECLARED.match(text)
        if declared is not None:
            text = f"{text[: declared.start(2)]}UTF-8{text[declared.end(2) :]}"
        if "<!ENTITY" in text:
            end = _DOCTYPE_END.search(text)
            cut = end.start() if end else len(text)
            text = _COMMENT_OR_ENTITY.sub(_plainly_written, text[:cut]) + text[cut:]
        return text.encode("utf-8", "surrogateescape") + data[MAX_DOCTYPE:]


def _plainly_written(found: re.Match[str]) -> str:
    """Return a declaration with double quotes, and nothing for a comment but its line ends."""
    if found[1] is None:
        return "\n" * found[0].count("\n")
    value = found[3] if found[2] is None else found[2].replace('"', "&quot;")
    return f'{found[1]}"{value}">{found[4]}'


class _Shortener:
    """Turtle in blocks, in which ``LONG_MARK`` and its line ends stand for each literal that is too long.

    Attributes:
        is_within: Whether such a literal has not ended yet.
    """

    def __init__(self) -> None:
        self.is_within = False
        self._inside = b""  # what began and has not ended: a quotation, an IRI or a comment
        self._rest = b""
        self._held: list[bytes] = []
        self._size = self._lines = 0

    def take(self, data: bytes) -> bytes:
        """Return the next block, for the next block of the file; an empty block ends the file."""
        block, out, at = self._rest + data, [], 0
        stop = max(0, len(block) - 3) if data else len(block)  # a mark has up to three bytes
        while at < stop:
            if body := _BODIES.get(self._inside):
                found = body.match(block, at)
                end = found.end() if found else at
                if end >= stop or not block.startswith(self._inside, end):
                    end = min(end, stop)
                    end -= (end - len(block[:end].rstrip(b"\\"))) % 2  # an escape stays whole
                    self._hold(block[at:end])
                    at = end
                    break
                self._hold(block[at:end])
                out += [self._released(), self._inside]
                at, self._inside = end + len(self._inside), b""
            elif self._inside:
                found = _ENDS[self._inside].search(block, at, stop)
                end = found.end() if found else stop
                out.append(block[at:end])
                at, self._inside = end, b"" if found else self._inside
            else:
                found = _TOKEN.search(block, at)
                if found is None or found.start() >= stop:
                    out.append(block[at:stop])
                    at = stop
                    break
                out.append(block[at : found.end()])
                at, self._inside = found.end(), found[0] if found[0] in _BODIES or found[0] in _ENDS else b""
        self._rest = block[at:]
        if not data and not self.is_within:
            out += [*self._held, self._rest]
        return b"".join(out)

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        self._lines += part.count(b"\n")
        self._held.append(part)
        if self._size > MAX_LITERAL:
            self.is_within = True
            self._held.clear()

    def _released(self) -> bytes:
        """Return the content of the literal that ends."""
        marked = LONG_MARK.encode() + b"\n" * min(self._lines, BLOCK)
        content = marked if self.is_within else b"".join(self._held)
        self._held, self._size, self._lines, self.is_within = [], 0, 0, False
        return content
