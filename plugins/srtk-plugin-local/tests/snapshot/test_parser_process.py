"""Large files are parsed in a process of its own: with the same result, within its memory, as long as its parent."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import attrs
import pytest
from srtk_plugin_local.snapshot import parser_child, parser_process, staging_tables
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.limits import MAX_DEPTH
from srtk_plugin_local.snapshot.parser_process import SMALL, is_apart, shares

from srtk_framework.values import InputError

RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">'
FILES = {
    "a.ttl": "@prefix e: <http://e.org/> .\n"
    + "".join(f'e:a{n} e:p [ e:q "{n}"@en ], <b/../{n}> .\n' for n in range(99)),
    "a.trig": "<http://e.org/g> { <http://e.org/a> <http://e.org/p> (1 2) . }",
    "a.rdf": RDF + '<e:T rdf:about="http://e.org/a"><e:p>x</e:p><e:q><e:T/></e:q></e:T></rdf:RDF>',
    "a.jsonld": '{"@id": "http://e.org/a", "http://e.org/p": [{"@value": "x", "@language": "lv"}, "y"], "lost": 1}',
    "a.graphml": '<graphml><graph edgedefault="directed"><node id="a"><data key="k">7</data></node><node id="b"/>'
    '<edge source="a" target="b" label="knows"/></graph></graphml>',
    "a.gexf": '<gexf><graph><nodes><node id="a" label="A"/></nodes><edges><edge source="a" target="b"/></edges>'
    "</graph></gexf>",
}
WRONG = {
    "a.ttl": "<http://e.org/a> <http://e.org/p> 1 .\n<http://e.org/a> <http://e.org/p> x .\n",
    "a.rdf": RDF + "\n<e:T>",
    "a.jsonld": '{"@id":\n ]',
    "a.graphml": "<graphml>\n<graph>",
    "a.xlsx": "PK\x03\x04 xl/",
    "a.parquet": "PAR1 and no more",
}
DEEP = "<http://e.org/a> <http://e.org/p> " + "<<(<p:a> <p:b> " * 50_000 + "<p:c>" + ")>>" * 50_000 + " ."


def described(file: Path, folder: Path) -> object:
    meta = build(BuildSettings((str(file),), keep=("all",)), folder).meta
    return meta.content, meta.counts, meta.build["reading"], meta.build["plan"], meta.build.get("prefixes")


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "SMALL", 0)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_is_read_the_same_in_both_processes(tmp_path, monkeypatch, name):
    file = tmp_path / name
    file.write_text(FILES[name])
    assert not is_apart(str(file), name.partition(".")[2].replace("rdf", "rdfxml").replace("ttl", "turtle"))
    here = described(file, tmp_path / "here")
    monkeypatch.setattr(parser_process, "SMALL", 0)
    assert described(file, tmp_path / "apart") == here


def test_the_tables_of_a_workbook_are_read_the_same_in_both_processes(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for title, rows in {
        "people": [["id", "name", "city"], ["a", "Ann", "r"], ["b", "Bo", "r"], ["c", "Cy", None]],
        "cities": [["id", "name", "size"], ["r", "Riga", 7], ["o", "Oslo", 8.5]],
    }.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    here = described(tmp_path / "a.xlsx", tmp_path / "here")
    monkeypatch.setattr(parser_process, "SMALL", 0)
    assert described(tmp_path / "a.xlsx", tmp_path / "apart") == here


@pytest.mark.parametrize("name", sorted(WRONG))
def test_an_error_is_the_same_in_both_processes(tmp_path, monkeypatch, name):
    file = tmp_path / name
    file.write_text(WRONG[name])
    said = []
    for small in (SMALL, 0):
        monkeypatch.setattr(parser_process, "SMALL", small)
        with pytest.raises(InputError, match=rf"{name}") as caught:
            build(BuildSettings((str(file),)), tmp_path / "graph")
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_strict_file_is_strict_in_both_processes(tmp_path, apart):
    file = tmp_path / "a.graphml"
    file.write_text('<graphml><graph><node/><node id="a"/></graph></graphml>')
    with pytest.raises(InputError, match=r"a\.graphml:1: a node has no id; give it one"):
        build(BuildSettings((str(file),), strict=True), tmp_path / "graph")


@pytest.mark.parametrize("memory", ["60MB", "100MB"])
def test_a_parser_that_takes_too_much_memory_is_ended_with_a_sentence(tmp_path, memory):
    file = tmp_path / "a.ttl"
    file.write_text("<http://e.org/a> <http://e.org/p> " + "(" * 4_000_000)
    share = shares(memory)[1] // 10**6
    graph = LocalGraph(str(tmp_path / "graph"), build=BuildSettings((str(file),), memory=memory))
    with pytest.raises(
        InputError, match=rf"a\.ttl: needs more than {share} MB to be parsed, .*; give more with --memory"
    ):
        graph.open()


def test_a_parser_that_ends_its_process_is_an_error_of_the_file(tmp_path):
    file = tmp_path / "a.ttl"
    file.write_text(DEEP)
    assert file.stat().st_size < SMALL
    with pytest.raises(InputError, match=r"a\.ttl: ends its parser, as content that nests very deep does; flatten it"):
        build(BuildSettings((str(file),)), tmp_path / "graph")


def test_text_that_all_rows_of_parquet_share_is_not_repeated_beyond_the_memory(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["a" * 1_000_000]))
    names = pa.array(["n"] * 100_000)
    pq.write_table(pa.table({"subject": names, "relation": names, "object": whole}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: needs more than 200 MB to be parsed"):
        build(BuildSettings((str(tmp_path / "a.parquet"),), memory="300MB"), tmp_path / "graph")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("turtle", "x" * SMALL, False),
        ("turtle", "x" * (SMALL + 1), True),
        ("turtle", "<<" * MAX_DEPTH, False),
        ("turtle", "<<" * (MAX_DEPTH + 1), True),
        ("ntriples", "x" * (SMALL + 1), False),
        ("csv", "x" * (SMALL + 1), False),
        ("xlsx", "no workbook", False),
        ("parquet", "", True),
        ("jsonld", "<<" * (MAX_DEPTH + 1), False),
    ],
)
def test_a_process_is_started_by_format_and_size(tmp_path, kind, text, expected):
    assert SMALL == 2**20
    (tmp_path / "a").write_text(text)
    assert is_apart(str(tmp_path / "a"), kind) is expected


@pytest.mark.parametrize("more", [0, 1])
def test_the_size_of_a_workbook_is_that_of_what_it_unpacks_to(tmp_path, more):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/a.xml", b"x" * (SMALL // 2))
        archive.writestr("xl/b.xml", b"x" * (SMALL // 2 + more))
    assert is_apart(str(tmp_path / "a.xlsx"), "xlsx") is bool(more)


def test_a_fault_of_the_program_is_not_taken_for_one_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(parser_process, "_CHILD", "no_module_of_this_name")
    report = parser_process.FileReport("a.ttl", "turtle")
    with pytest.raises(RuntimeError, match="No module named no_module_of_this_name"):
        list(parser_process.read_apart("a.ttl", "turtle", BuildSettings(()), report, lambda _: None))


@pytest.mark.parametrize(("code", "said"), [(-signal.SIGSEGV, "ends its parser"), (77, "needs more than 75 MB to be")])
def test_the_code_of_a_child_says_why_it_ended(code, said):
    assert parser_process.ending(code, 75_000_000).startswith(said)


def test_a_frame_that_is_cut_is_none():
    whole = parser_process.HEAD.pack(b"d", 2) + b"17"
    assert parser_process._received(io.BytesIO(whole)) == (b"d", 17)
    for size in range(len(whole)):
        assert parser_process._received(io.BytesIO(whole[:size])) is None


def test_database_and_parser_share_the_memory():
    assert shares("1GB") == (250 * 10**6, 750 * 10**6)
    assert shares("300MB") == (100 * 10**6, 200 * 10**6)
    assert shares("100MB") == (50 * 10**6, 50 * 10**6)


def test_a_child_ends_with_its_parent(tmp_path):
    file = tmp_path / "a.ttl"
    file.write_text("".join(f"<http://e.org/{n}> <http://e.org/p> {n} .\n" for n in range(300_000)))
    settings = attrs.asdict(BuildSettings(()))
    job = {"name": str(file), "kind": "turtle", "memory": 10**9, "settings": settings}
    command = [sys.executable, "-m", f"{parser_process.__package__}.parser_child"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(job).encode() + b"\n")
        child.stdin.flush()
        assert child.stdout.read(1)  # it works, and soon waits for somebody to read on
        child.stdin.close()
        assert child.wait(60) == 77


def test_a_child_that_is_no_longer_read_is_ended(tmp_path):
    file = tmp_path / "a.ttl"
    file.write_text("".join(f"<http://e.org/{n}> <http://e.org/p> {n} .\n" for n in range(300_000)))
    report = parser_process.FileReport(str(file), "turtle")
    tables = parser_process.read_apart(str(file), "turtle", BuildSettings(()), report, lambda _: None)
    assert next(tables).num_rows
    tables.close()  # type: ignore[attr-defined]  # it waits for the child


def test_memory_is_watched_where_the_system_has_no_limit():
    code = (
        "from srtk_plugin_local.snapshot.parser_child import peak_memory, watch_memory\nimport threading, time\n"
        "threading.Thread(target=watch_memory, args=(peak_memory() + 50_000_000, peak_memory), daemon=True).start()\n"
        "time.sleep(0.3)\nprint('small', flush=True)\nheld = b'x' * (peak_memory() + 100_000_000)\ntime.sleep(60)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (77, "small\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_counted_in_bytes():
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    data, peak = (int(status[name].split()[0]) * 1024 for name in ("VmData", "VmHWM"))
    assert abs(parser_child._data_memory() - data) < 2**24
    assert parser_child.peak_memory() > peak - 2**24
    assert (parser_child._data_memory() % 1024, parser_child.peak_memory() % 1024) == (0, 0)


def test_a_process_at_its_limit_ends_at_once_whatever_it_would_do_without_memory():
    code = (
        "from srtk_plugin_local.snapshot.parser_child import limit_memory\nlimit_memory(30_000_000)\nheld = []\n"
        "while True:\n    try:\n        held.append(str(len(held)))\n    except MemoryError:\n        pass"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert done.returncode == 77


def test_a_small_file_of_nodes_and_edges_is_parsed_in_this_process(tmp_path, monkeypatch):
    file = tmp_path / "a.graphml"
    file.write_text('<graphml><graph><node id="a"/><edge source="a" target="b"/></graph></graphml>')
    apart = []
    monkeypatch.setattr(
        staging_tables, "read_apart", lambda *given: apart.append(given[1]) or parser_process.read_apart(*given)
    )
    small = build(BuildSettings((str(file),)), tmp_path / "small")
    assert apart == []
    monkeypatch.setattr(parser_process, "SMALL", 10)
    assert build(BuildSettings((str(file),)), tmp_path / "large").meta.content == small.meta.content
    assert apart == ["graphml"]
