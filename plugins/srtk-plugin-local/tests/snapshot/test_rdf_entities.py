"""Entities of RDF/XML: prefixes are read, expansion bombs are refused in bounded memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.rdf import read_rdf

from srtk_framework.values import InputError

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n'
BODY = (
    ']>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">\n'
    '<rdf:Description rdf:about="http://e.org/a"><e:r>%s</e:r></rdf:Description>\n</rdf:RDF>\n'
)
LAUGHS = '<!ENTITY l0 "ha">\n' + "".join(
    f'<!ENTITY l{i} "{"".join(f"&l{i - 1};" for _ in range(10))}">\n' for i in range(1, 11)
)
BOMBS = {
    "used": (HEAD + LAUGHS + BODY % "&l10;", r"a\.rdf:\d+: the entity 'l5'"),
    "declared only": (HEAD + LAUGHS + BODY % "x", r"a\.rdf:\d+: the entity 'l5'"),
    "repeated": (HEAD + f'<!ENTITY l "{"x" * 60_000}">\n' + BODY % ("&l;" * 50_000), r"a\.rdf:\d+: .*amplification"),
    "itself": (HEAD + '<!ENTITY l "x&l;">\n' + BODY % "&l;", r"a\.rdf:\d+: "),
    "each other": (HEAD + '<!ENTITY a "x&b;">\n<!ENTITY b "x&a;">\n' + BODY % "&a;", r"a\.rdf:\d+: "),
}
_MEMORY = """
import resource, sys
import pyarrow, pyoxigraph
from xml.parsers import expat
from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.rdf import read_rdf
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    list(read_rdf(sys.argv[1], "rdfxml", FileReport(sys.argv[1], "rdfxml"), lambda done: None))
except InputError as error:
    print(error)
"""


def read(file: Path) -> list[dict[str, object]]:
    tables = read_rdf(str(file), "rdfxml", FileReport(str(file), "rdfxml"), lambda _: None)
    return [row for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("case", sorted(BOMBS))
def test_an_expansion_bomb_is_refused_with_its_line_within_200_mb(tmp_path: Path, case: str) -> None:
    text, message = BOMBS[case]
    file = tmp_path / "a.rdf"
    file.write_text(text)
    command = [sys.executable, "-c", _MEMORY, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a.rdf:" in done.stdout
    with pytest.raises(InputError, match=message):
        read(file)


@pytest.mark.parametrize("name", ["a.rdf", "a.rdf.gz"])
def test_entities_that_stand_for_prefixes_are_read(tmp_path: Path, name: str) -> None:
    text = HEAD + '<!ENTITY e "http://e.org/">\n<!ENTITY f "&e;f/">\n' + BODY % "&f;x"
    file = tmp_path / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    (row,) = read(file)
    assert (row["c0"], row["c1"], row["c2"]) == ("http://e.org/a", "http://e.org/r", '"http://e.org/f/x"')
