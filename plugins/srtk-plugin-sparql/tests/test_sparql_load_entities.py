from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n'
BODY = (
    ']>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">\n'
    '<rdf:Description rdf:about="http://e.org/a"><e:r>%s</e:r></rdf:Description>\n</rdf:RDF>\n'
)
LAUGHS = '<!ENTITY l0 "ha">\n' + "".join(
    f'<!ENTITY l{i} "{"".join(f"&l{i - 1};" for _ in range(10))}">\n' for i in range(1, 11)
)
_LOAD = """
import resource, sys
from pathlib import Path
import pyoxigraph
from xml.parsers import expat
from srtk_framework.values import InputError
from srtk_plugin_sparql.commands.load import _quads, _report_of
from srtk_plugin_local.snapshot.build_settings import BuildSettings
import srtk_plugin_local.snapshot.rdf, pyarrow, pyarrow.compute
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    print(len(list(_quads(_report_of(Path(sys.argv[1]), None, False), BuildSettings(())))), "read")
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + LAUGHS + BODY % "&l10;", "a.rdf:8: the entity 'l5'"),
        (HEAD + LAUGHS + BODY % "x", "a.rdf:8: the entity 'l5'"),
        (HEAD + '<!ENTITY e "http://e.org/">\n' + BODY % "&e;", "1 read"),
    ],
    ids=["used", "declared", "prefix"],
)
def test_entities_of_rdf_xml_are_read_or_refused_within_200_mb(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.rdf").write_text(text)
    command = [sys.executable, "-c", _LOAD, str(tmp_path / "a.rdf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert message in done.stdout
