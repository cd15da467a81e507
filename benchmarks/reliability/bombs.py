"""Gives files of at most 2 MB, made to fill the memory or to take hours, to each way in; prints what became of them.

    python -m benchmarks.reliability.bombs [--seed 0] [--only NAME ...] [--ways build ask open load]

A graph file goes through ``srtk graph build --memory 300MB``, ``srtk ask FILE QUESTION`` and ``Graph.open``, and if it
is RDF through ``srtk graph load --memory 300MB``; a file of questions and a recipe go through ``srtk run`` and ``srtk
check``. Each must end within SECONDS of CPU with a sentence that names the file, and parent and child together must not
hold more than the memory of the build and 300 MB. A file that is read is right as well, within the same bounds. Peaks
are sums of the resident memory of the process and its children, looked at every 10 ms (Linux only).
"""

from __future__ import annotations

import argparse
import bz2
import io
import lzma
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import attrs

LARGEST = 2_000_000
"""Bytes of the largest bomb."""
SECONDS = 10.0
MEMORY = {"build": 300, "load": 300, "ask": 1000, "open": 1000, "run": 1000, "check": 1000}
"""Megabytes that a way in may use, apart from BESIDE."""
BESIDE = 300
_WAIT = 60
_GB = 1 << 30
_RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/"'
_TRIPLE = b"<http://e.org/a> <http://e.org/p> "
_OPEN = (
    "import sys, srtk_framework as s\n"
    "try:\n    s.ask(s.Graph.open(sys.argv[1]), sys.argv[2], reader='paths')\n"
    "except s.SrtkError as error:\n    sys.exit(str(error))"
)

Content = Callable[[random.Random], bytes]


def _zeros(packer: Callable[[], object], head: bytes = b"", unit: bytes = b"0", size: int = _GB) -> bytes:
    """Pack a text of ``size`` bytes without holding it."""
    packing, block = packer(), unit * ((1 << 20) // len(unit))
    out = [packing.compress(head)]  # type: ignore[attr-defined]
    out += [packing.compress(block) for _ in range(size // len(block))]  # type: ignore[attr-defined]
    return b"".join((*out, packing.flush()))  # type: ignore[attr-defined]


def _gzip(head: bytes = b"", unit: bytes = b"0", size: int = _GB) -> bytes:
    import zlib

    return _zeros(lambda: zlib.compressobj(9, zlib.DEFLATED, 31), head, unit, size)


def _zstd(head: bytes) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(head)
        for _ in range(_GB >> 20):
            out.write(b"0" * (1 << 20))
    return bytes(sink.getvalue())


def _workbook(parts: Mapping[str, bytes | tuple[bytes, bytes, int, bytes]]) -> bytes:
    """Zip a workbook of one sheet; a part may be (start, unit, number of units, end)."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    of = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    fixed = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="xml" ContentType="'
        f'application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        f'relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/><Override '
        f'PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/><Override PartName="/xl/'
        f'sharedStrings.xml" ContentType="{kind}.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{of}/'
        'officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{of}"><sheets><sheet name="s" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="'
        f'{of}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{of}/sharedStrings" Target="'
        'sharedStrings.xml"/></Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{main}"><si><t>a</t></si></sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData/></worksheet>',
    }
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in fixed.items():
            given = parts.get(name, text.encode())
            start, unit, count, end = given if isinstance(given, tuple) else (given, b"", 0, b"")
            with archive.open(name, "w", force_zip64=True) as part:
                part.write(start.replace(b"MAIN", main.encode()))
                for done in range(0, count, 10_000):
                    part.write(unit * min(10_000, count - done))
                part.write(end)
    return sink.getvalue()


def _shared_strings(made: random.Random) -> bytes:
    unit = b"<si><t>" + b"a" * 1000 + b"</t></si>"
    return _workbook({"xl/sharedStrings.xml": (b'<sst xmlns="MAIN">', unit, 600_000, b"</sst>")})


def _wide_sheet(made: random.Random) -> bytes:
    row = b'<row><c r="XFD1"><v>%d</v></c></row>' % made.randrange(10)
    start = b'<worksheet xmlns="MAIN"><dimension ref="A1:XFD1048576"/><sheetData>'
    return _workbook({"xl/worksheets/sheet1.xml": (start, row, 500_000, b"</sheetData></worksheet>")})


def _laughs(root: bytes, body: bytes) -> bytes:
    entities = [b'<!ENTITY l0 "ha">'] + [b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 11)]
    return b"<!DOCTYPE %s [\n%s\n]>\n%s" % (root, b"\n".join(entities), body)


def _parquet(made: random.Random) -> bytes:
    """A column whose dictionary is one long text, and whose every row is this text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = "a" * (8 << 20)
    whole = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array([text]))
    sink = io.BytesIO()
    names = pa.array([f"n{n % 10}" for n in range(100_000)])
    table = pa.table({"subject": names, "relation": names, "object": whole})
    pq.write_table(table, sink, compression="zstd", dictionary_pagesize_limit=64 << 20)
    return sink.getvalue()


def _sqlite(made: random.Random) -> bytes:
    """A table with a column that is computed, a hundred megabytes in each row."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.db"
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE t (id TEXT, name TEXT, big TEXT AS (hex(zeroblob(400000000))))")
            database.executemany("INSERT INTO t VALUES (?, ?)", [(f"i{n}", f"n{n}") for n in range(5)])
            database.commit()
        return file.read_bytes()


def _zip_of_zips(made: random.Random) -> bytes:
    content = b"0" * (10 << 20)
    for level in range(5):
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(10 if level else 1):
                archive.writestr(f"{copy}.{'zip' if level else 'csv'}", content)
        content = sink.getvalue()
    return content


def _json(made: random.Random, depth: int) -> bytes:
    key = b'{"http://e.org/%s":' % made.choice([b"a", b"b", b"c"])
    return key * depth + b'"x"' + b"}" * depth


def _rows(made: random.Random) -> bytes:
    return b"subject,relation,object\n" + b"".join(b"a%d,knows,b%d\n" % (n, n) for n in range(made.randrange(2, 9)))


GRAPHS: Mapping[str, tuple[str, Content]] = {
    "nested JSON-LD": ("a.jsonld", lambda r: _json(r, r.randrange(3000, 4000))),
    "nested JSON-LD, 2 MB": ("a.jsonld", lambda r: _json(r, 100_000)),
    "nested lists in JSON-LD": ("a.jsonld", lambda r: b'{"@id":"http://e.org/a","http://e.org/b":' + b"[" * 1_900_000),
    "JSON-LD of a long list, gzip": (
        "a.jsonld.gz",
        lambda r: _gzip(b'{"@id":"http://e.org/a","http://e.org/b":[', b'"ab",', 60 << 20),
    ),
    "nested lists in JSON": ("a.json", lambda r: b'[{"name":' + b"[" * 1_900_000),
    "nested objects in JSON Lines": ("a.jsonl", lambda r: _json(r, r.randrange(300, 400)) + b"\n{}\n"),
    "a million keys in JSON": ("a.json", lambda r: b"[{" + b",".join(b'"%x":0' % n for n in range(180_000)) + b"}]"),
    "empty cells in JSON Lines": (
        "a.jsonl",
        lambda r: b"{%s}\n" % b",".join(b'"%d":"x"' % n for n in range(4999)) + b'{"0":"y"}\n' * 180_000,
    ),
    "objects in JSON, gzip": ("a.json.gz", lambda r: _gzip(b"[", b'{"a":0},', 300 << 20)),
    "one text in JSON Lines, gzip": ("a.jsonl.gz", lambda r: _gzip(b'{"name":"a"}\n{"name":"', b"x")),
    "nested RDF/XML": ("a.rdf", lambda r: b"<rdf:RDF %s>" % _RDF.encode() + b"<e:a><e:b>" * 90_000),
    "nested RDF/XML, gzip": ("a.rdf.gz", lambda r: _gzip(b"<rdf:RDF %s>" % _RDF.encode(), b"<e:a><e:b>", 300 << 20)),
    "one literal in RDF/XML, gzip": (
        "a.rdf.gz",
        lambda r: _gzip(b'<rdf:RDF %s><rdf:Description rdf:about="http://e.org/a"><e:p>' % _RDF.encode(), b"x"),
    ),
    "billion laughs in RDF/XML": (
        "a.rdf",
        lambda r: _laughs(b"rdf:RDF", b"<rdf:RDF %s><e:a><e:b>&l10;</e:b></e:a></rdf:RDF>" % _RDF.encode()),
    ),
    "quadratic entities in GraphML": (
        "a.graphml",
        lambda r: (
            b'<!DOCTYPE graphml [<!ENTITY a "%s">]><graphml><graph><node id="n">' % (b"x" * 60_000)
            + b"&a;" * 300_000
            + b"</node></graph></graphml>"
        ),
    ),
    "comments without end in XML": ("a.xml", lambda r: b"<!--" * 250_000),
    "instructions without end in XML": ("a.owl", lambda r: b"<?" * 500_000),
    "nested GraphML": ("a.graphml", lambda r: b"<graphml>" + b'<graph><node id="n">' * 90_000),
    "nested GraphML, gzip": ("a.graphml.gz", lambda r: _gzip(b"<graphml>", b"<graph><node id='n'>", 300 << 20)),
    "nested GEXF": ("a.gexf", lambda r: b"<gexf><graph>" + b"<nodes><node id='n'>" * 90_000),
    "one attribute in GEXF, gzip": ("a.gexf.gz", lambda r: _gzip(b"<gexf><graph><nodes><node id='", b"x")),
    "nested blank nodes in Turtle": ("a.ttl", lambda r: _TRIPLE + b"[<p:a>" * 300_000),
    "nested lists in Turtle": ("a.ttl", lambda r: _TRIPLE + b"(" * 1_900_000),
    "nested triples in Turtle": (
        "a.ttl",
        lambda r: _TRIPLE + b"<<(<p:a> <p:b> " * 50_000 + b"<p:c>" + b")>>" * 50_000 + b".\n",
    ),
    "nested triples in N-Triples": (
        "a.nt",
        lambda r: (
            (_TRIPLE + b'"%d" .\n' % r.randrange(9)) * 9
            + _TRIPLE
            + b"<<( <p:a> <p:b> " * 60_000
            + b"<p:c>"
            + b" )>>" * 60_000
            + b" .\n"
        ),
    ),
    "one literal in Turtle, gzip": ("a.ttl.gz", lambda r: _gzip(_TRIPLE + b'"', b"x")),
    "one literal in TriG, bzip2": ("a.trig.bz2", lambda r: _zeros(bz2.BZ2Compressor, _TRIPLE + b'"""')),
    "one IRI in Turtle, Zstandard": ("a.ttl.zst", lambda r: _zstd(_TRIPLE + b"<http://e.org/")),
    "one literal of 60 MB in Turtle, gzip": ("a.ttl.gz", lambda r: _gzip(_TRIPLE + b'"', b"x", 60 << 20)),
    "one literal of 60 MB in N-Triples, gzip": ("a.nt.gz", lambda r: _gzip(_TRIPLE + b'"', b"x", 60 << 20)),
    "one literal in N-Triples, gzip": ("a.nt.gz", lambda r: _gzip(_TRIPLE + b'"', b"x")),
    "one cell in CSV, gzip": ("a.csv.gz", lambda r: _gzip(_rows(r) + b"a,b,", b"x")),
    "one cell of 60 MB in CSV, gzip": ("a.csv.gz", lambda r: _gzip(_rows(r) + b"a,b,", b"x", 60 << 20)),
    "a quotation mark without end in CSV, gzip": ("a.csv.gz", lambda r: _gzip(_rows(r) + b'a,b,"', b"x\n", 60 << 20)),
    "quotation marks in CSV": ("a.csv", lambda r: _rows(r) + b'"' * 1_900_001),
    "a million columns in CSV": ("a.csv", lambda r: b"a," * 990_000 + b"a\n"),
    "a million columns in TSV": ("a.tsv", lambda r: b"a\t" * 990_000 + b"a\n"),
    "zeros in TSV, bzip2": ("a.tsv.bz2", lambda r: _zeros(bz2.BZ2Compressor, b"", b"0", 4 * _GB)),
    "blank lines in CSV, gzip": ("a.csv.gz", lambda r: _gzip(_rows(r), b"\n")),
    "zeros in CSV, xz": ("a.csv.xz", lambda r: _zeros(lzma.LZMACompressor, b"a,b,")),
    "a zip of zips": ("a.zip", _zip_of_zips),
    "shared strings in a workbook": ("a.xlsx", _shared_strings),
    "rows of 16,384 cells in a workbook": ("a.xlsx", _wide_sheet),
    "billion laughs in a workbook": (
        "a.xlsx",
        lambda r: _workbook(
            {"xl/sharedStrings.xml": _laughs(b"sst", b'<sst xmlns="MAIN"><si><t>&l10;</t></si></sst>')}
        ),
    ),
    "a dictionary in Parquet": ("a.parquet", _parquet),
    "a computed column in SQLite": ("a.db", _sqlite),
}
"""File name and content of each graph file, by name."""

_QUESTION = b'{"id": "1", "question": "Who is it?"}\n'
QUESTIONS: Mapping[str, tuple[str, Content]] = {
    "one line of JSON Lines": ("q.jsonl", lambda r: _QUESTION + b"[" * 1_900_000),
    "one line of JSON Lines, gzip": ("q.jsonl.gz", lambda r: _gzip(_QUESTION + b'{"question": "', b"x")),
    "blank lines of JSON Lines, bzip2": (
        "q.jsonl.bz2",
        lambda r: _zeros(bz2.BZ2Compressor, _QUESTION, b"\n", 4 * _GB),
    ),
    "zeros in JSON Lines, xz": ("q.jsonl.xz", lambda r: _zeros(lzma.LZMACompressor)),
}

RECIPES: Mapping[str, tuple[str, Content]] = {
    "aliases in a recipe": (
        "recipe.yaml",
        lambda r: (
            b"srtk: 1\na0: &a0 [x]\n"
            + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12))
        ),
    ),
    "a nested recipe": ("recipe.yaml", lambda r: b"srtk: 1\nquestions: " + b"[" * 1_900_000),
    "a recipe of 2 MB": ("recipe.yaml", lambda r: b"srtk: 1\nquestions: [" + b"a, " * 600_000 + b"]\n"),
}


@attrs.frozen
class Outcome:
    """What became of a bomb.

    Attributes:
        name: Name of the bomb.
        way: The way in: build, ask, open, load, run or check.
        size: Bytes of the file.
        seconds: Seconds of CPU of the process and its children, which do not depend on what else runs.
        wall: Duration of the process in seconds.
        peak: Largest sum of the resident megabytes of the process and its children.
        code: Exit code; negative for a signal.
        said: The sentence about the file.
    """

    name: str
    way: str
    size: int
    seconds: float
    wall: float
    peak: int
    code: int
    said: str

    @property
    def fault(self) -> str:
        """What is wrong; empty if nothing is."""
        if self.seconds > SECONDS:
            return f"took {self.seconds:.0f} s"
        if self.peak > MEMORY[self.way] + BESIDE:
            return f"took {self.peak:,} MB"
        if self.code < 0 or "Traceback" in self.said or "fault" in self.said:
            return f"ended by {self.code}"
        if self.size > LARGEST:
            return "is too large for a bomb"
        return "" if self.said or not self.code else "was not named"


def bombs() -> dict[str, tuple[str, Content]]:
    """Return all bombs by name."""
    return {**GRAPHS, **QUESTIONS, **RECIPES}


def ways_of(name: str) -> tuple[str, ...]:
    """Return the ways in of a bomb."""
    if name not in GRAPHS:
        return ("run",) if name in QUESTIONS else ("check",)
    is_rdf = GRAPHS[name][0].partition(".")[2].split(".")[0] in ("jsonld", "nt", "owl", "rdf", "trig", "ttl", "xml")
    return ("build", "ask", "open", *(("load",) if is_rdf else ()))


def written(name: str, folder: Path, seed: int) -> Path:
    """Write a bomb into a folder; return its file."""
    file, content = bombs()[name]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(content(random.Random(f"{seed} {name}")))
    return folder / file


def explode(name: str, way: str, seed: int, folder: Path) -> Outcome:
    """Give a bomb to a way in, in a process of its own.

    Args:
        name: Name of the bomb.
        way: build, ask or open for a graph, load for one in RDF; run for questions, check for a recipe.
        seed: Seed of the content.
        folder: An empty folder for the files.
    """
    file = written(name, folder, seed)
    srtk = [sys.executable, "-m", "srtk_framework"]
    if way == "run":
        (folder / "g.tsv").write_text("a\tknows\tb\n")
        recipe = folder / "recipe.yaml"
        recipe.write_text(
            f"srtk: 1\nquestions: {file}\nknowledge_graph: {{use: local, path: {folder}/g, build: "
            f"{{files: [{folder}/g.tsv]}}}}\nentity_linker: {{use: dictionary}}\nexpander: {{use: bfs}}\n"
            f"exporters: [{{use: jsonl, path: {folder}/out.jsonl}}]\n"
        )
    stored = [str(file), "--out", str(folder / "g"), "--memory", f"{MEMORY['build']}MB"]
    command = {
        "build": [*srtk, "graph", "build", *stored],
        "load": [*srtk, "graph", "load", *stored],
        "ask": [*srtk, "ask", str(file), "Who knows a0?"],
        "open": [sys.executable, "-c", _OPEN, str(file), "Who knows a0?"],
        "run": [*srtk, "run", str(folder / "recipe.yaml")],
        "check": [*srtk, "check", str(file)],
    }[way]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "1000", "NO_COLOR": "1"}
    before = time.monotonic()
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(command, stdout=told, stderr=told, stdin=subprocess.DEVNULL, env=environment)
        peak = 0
        ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while not os.waitid(os.P_PID, process.pid, ended) and time.monotonic() - before < _WAIT:
            peak = max(peak, sum(map(_resident, _family(process.pid))))
            time.sleep(0.01)
        for each in reversed(_family(process.pid)):
            with suppress(OSError):
                os.kill(each, 9)
        _, status, usage = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - before
        told.seek(0)
        lines = told.read().decode("utf-8", "replace").splitlines()
    named = [line for line in lines if file.name in line] or [line for line in lines if "Traceback" in line]
    said = re.sub(rf"\S*{re.escape(str(folder))}/", "", named[-1]) if named else ""
    return Outcome(name, way, file.stat().st_size, usage.ru_utime + usage.ru_stime, wall, peak >> 20, code, said[:300])


def _family(pid: int) -> list[int]:
    """Return a process and its children."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        below = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return [pid]
    return [pid, *(each for child in below for each in _family(child))]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def explode_all(seed: int = 0, names: Sequence[str] = (), ways: Sequence[str] = ()) -> list[Outcome]:
    """Give each bomb to each of its ways in, and print a line for each.

    Args:
        seed: Seed of the contents.
        names: Names of bombs; all by default.
        ways: Ways in; all by default.
    """
    outcomes = []
    for name in names or bombs():
        for way in ways_of(name):
            if ways and way not in ways:
                continue
            with tempfile.TemporaryDirectory(prefix="bombs") as folder:
                outcomes.append(explode(name, way, seed, Path(folder)))
            one = outcomes[-1]
            cost = f"{one.seconds:5.1f} s ({one.wall:4.1f}) {one.peak:5,} MB"
            print(
                f"{one.fault or 'ok':14} {one.name:42} {one.way:5} {one.size / 1e6:5.2f} MB {cost}  {one.said}",
                flush=True,
            )
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all bombs, and print how many went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME")
    parser.add_argument("--ways", nargs="+", default=(), metavar="WAY")
    args = parser.parse_args(arguments)
    outcomes = explode_all(args.seed, args.only, args.ways)
    wrong = [one for one in outcomes if one.fault]
    kinds = len({one.name for one in outcomes})
    print(
        f"{kinds} bombs, {len(outcomes)} runs, {len(wrong)} wrong; longest {max(o.seconds for o in outcomes):.1f} s, "
        f"largest {max(o.peak for o in outcomes):,} MB"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
