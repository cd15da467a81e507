"""The W3C's test suites of RDF and JSON-LD, from the folder that SRTK_W3C names: they are not part of this repository.

The folder holds checkouts of w3c/rdf-tests and w3c/json-ld-api, under any names. The expected triples are read by a
parser of this file's own, and compared with the rows that a build stages; where statements are reified, with the facts
and qualifiers of the snapshot itself.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import canonicalize

import attrs
import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.input_files import detect
from srtk_plugin_local.snapshot.input_report import DIRECTIONS, EMPTY_FILES, FileReport
from srtk_plugin_local.snapshot.rdf import read_rdf

from srtk_framework.values import InputError, Literal, Pattern

FOLDER = os.environ.get("SRTK_W3C", "")
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
ENDINGS = {".nt": "ntriples", ".nq": "nquads", ".ttl": "turtle", ".trig": "trig", ".rdf": "rdfxml", ".jsonld": "jsonld"}
LANGUAGES = ["rdf-n-triples", "rdf-n-quads", "rdf-turtle", "rdf-trig", "rdf-xml"]
TERM = re.compile(
    r'\s*(?:<(?P<iri>[^<>"{}|^`\s]*)>|(?P<blank>_:\S+?(?=\.?\s|<|\)|$))|"(?P<text>(?:[^"\\]|\\.)*)"'
    r"(?:@(?P<language>[a-zA-Z0-9-]+)|\^\^<(?P<datatype>[^>]*)>)?|(?P<open><<\()|(?P<mark>\)>>|\.|#.*))"
)
ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
CONTROLS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}

pytestmark = pytest.mark.skipif(not FOLDER, reason="SRTK_W3C names no folder with the test suites of the W3C")


@attrs.frozen
class Case:
    """A test of a suite.

    Attributes:
        name: Its name in the manifest.
        action: The file that is read.
        base: Base IRI of that file.
        kind: ``same`` triples as the result, ``read`` without error, or ``wrong``.
        result: N-Triples or N-Quads with the triples that are meant.
    """

    name: str
    action: Path
    base: str
    kind: str
    result: Path | None = None


def manifests(version: str, language: str) -> list[Path]:
    """Return the manifests of a language in the layout of w3c/rdf-tests: one, or one in each folder below."""
    return sorted(Path(FOLDER).rglob(f"rdf/{version}/{language}/**/manifest.ttl"))


def rdf_cases(version: str, language: str) -> Iterator[Case]:
    import pyoxigraph as ox

    tests = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
    for manifest in manifests(version, language):
        parts: dict[str, dict[str, str]] = {}
        base = ""
        for quad in ox.parse(manifest.read_bytes(), format=ox.RdfFormat.TURTLE, base_iri="file:///"):
            relation, value = quad.predicate.value, getattr(quad.object, "value", "")
            base = value if relation == tests + "assumedTestBase" else base
            parts.setdefault(str(quad.subject), {})[relation] = value
        base = base or f"https://w3c.github.io/rdf-tests/rdf/{version}/{language}/"
        for name, test in parts.items():
            if not (action := test.get(tests + "action", "").removeprefix("file:///")):
                continue
            result = test.get(tests + "result", "").removeprefix("file:///")
            kind = "wrong" if "Negative" in test[RDF + "type"] else "same" if result else "read"
            meant = manifest.parent / result if kind == "same" else None
            label = f"{manifest.parent.name}/{name.rpartition('#')[2].strip('>')}"
            yield Case(label, manifest.parent / action, base + action, kind, meant)


def json_cases() -> Iterator[Case]:
    for manifest in sorted(Path(FOLDER).rglob("toRdf-manifest.jsonld")):
        data = json.loads(manifest.read_text(encoding="utf-8"))
        for test in data["sequence"]:
            options = test.get("option", {})
            kind = "wrong" if "Negative" in " ".join(test["@type"]) else "same" if "expect" in test else "read"
            if kind == "wrong" and "json-ld-1.0" in options.values():
                continue  # 1.1 allows it, and is what the parser reads
            base = options.get("base", data["baseIri"] + test["input"])
            result = manifest.parent / test["expect"] if kind == "same" else None
            yield Case(test["@id"], manifest.parent / test["input"], base, kind, result)


def unescaped(text: str) -> str:
    return ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else CONTROLS.get(m[3], m[3]), text)


def statements(path: Path) -> Iterator[list[Any]]:
    """Yield the terms of each line of N-Triples or N-Quads; a triple that is a term is a tuple."""
    for line in re.split(r"[\r\n]+", path.read_text(encoding="utf-8")):
        levels: list[list[Any]] = [[]]
        at, line = 0, line.strip()
        while at < len(line):
            found = TERM.match(line, at)
            assert found, f"{path}: {line[at:]}"
            at = found.end()
            if found["iri"] is not None:
                levels[-1].append(unescaped(found["iri"]))
            elif found["text"] is not None:
                text, datatype = unescaped(found["text"]), found["datatype"]
                levels[-1].append(Literal.make(text, datatype and unescaped(datatype), found["language"]))
            elif found["open"]:
                levels.append([])
            elif found["mark"] == ")>>":
                levels[-2].append(tuple(levels.pop()))
            elif found["blank"]:
                levels[-1].append(found["blank"])
        if levels[0]:
            yield levels[0]


def rows_of(subject: str, relation: str, object_: Any) -> Iterator[tuple[str, str, str]]:
    """Yield a triple as the reader is documented to: a triple that is a term is a node with its parts."""
    if not isinstance(object_, tuple):
        yield subject, relation, object_
        return
    if relation != RDF + "reifies":
        node = f"_:{object_!r}"
        yield subject, relation, node
        subject = node
    for part, value in zip(("subject", "predicate", "object"), object_, strict=True):
        yield from rows_of(subject, RDF + part, value)


def meant(path: Path) -> set[tuple[str, ...]]:
    """Return the triples of a result as rows."""
    return {row for terms in statements(path) for row in rows_of(*terms[:3])}


def folded(rows: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the facts of rows, and as tuples of five what is said of reified ones, which become their qualifiers.

    A statement that others refer to stays as well.
    """
    parts = [{(s, o) for s, r, o in rows if r == RDF + part} for part in ("subject", "predicate", "object")]
    facts = {
        (node, (s, p, o))
        for node, s in parts[0]
        for other, p in parts[1]
        for third, o in parts[2]
        if node == other == third and (s, p, o) in rows
    }
    ends = {row[2] for row in rows}
    dropped = {node for node, _ in facts if node not in ends}
    own = {RDF + "subject", RDF + "predicate", RDF + "object"}
    said = {
        (*fact, r, o)
        for node, fact in facts
        for s, r, o in rows
        if s == node and r not in own and (r, o) != (RDF + "type", RDF + "Statement")
    }
    return {row for row in rows if row[0] not in dropped} | said


def canonical(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return rows with canonical labels of their blank nodes."""
    import pyoxigraph as ox

    def node(text: str) -> Any:
        if text.startswith("_:") and not isinstance(text, Literal):
            return ox.BlankNode(f"b{text.encode().hex()}")
        return ox.NamedNode(f"urn:t:{text.encode().hex()}")

    data = ox.Dataset()
    for row in rows:
        first = ox.BlankNode() if len(row) > 3 else node(row[0])
        places = enumerate(row) if len(row) > 3 else enumerate(row[2:], start=2)
        for place, part in places:
            relation = f"urn:q:{place}" if len(row) > 3 else f"urn:t:{row[1].encode().hex()}"
            data.add(ox.Quad(first, ox.NamedNode(relation), node(part)))
    data.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return sorted(map(str, data))


def plain(rows: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return rows with XML in its canonical form, and texts without direction, their languages in small letters."""

    def term(text: str) -> str:
        if isinstance(text, Literal) and text.datatype == RDF + "XMLLiteral":
            return Literal.make(canonicalize(f"<x>{text.lexical}</x>"), text.datatype)
        if isinstance(text, Literal) and text.language:
            return Literal.make(text.lexical, language=re.sub(r"--(?:ltr|rtl)$", "", text.language.lower()))
        return text

    return {tuple(map(term, row)) for row in rows}


def read(case: Case) -> tuple[FileReport, set[tuple[str, ...]]]:
    """Read a file as a build does: its report and its rows."""
    # What no test calls wrong must also be recognised; N-Triples with a prefix are read as Turtle, and that is told.
    kind = ENDINGS[case.action.suffix] if case.kind == "wrong" else detect(str(case.action), None)[0]
    report = FileReport(str(case.action), kind)
    rows: set[tuple[str, ...]] = set()
    for table in read_rdf(str(case.action), kind, report, lambda done: None, case.base):
        for *terms, literal in zip(*(column.to_pylist() for column in table.columns), strict=True):
            rows.add((*terms[:2], Literal(terms[2]) if literal else terms[2]))
    return report, rows


def snapshot(case: Case, out: Path) -> set[tuple[str, ...]]:
    """Return the facts and qualifiers of the snapshot of a file."""
    names: dict[str, Any] = {"label_relations": (), "alias_relations": ()}
    graph = LocalGraph(str(build(BuildSettings(files=(str(case.action),), base=case.base, **names), out).folder))
    graph.open()
    [facts] = graph.match([Pattern()])
    said = graph.qualifiers(facts)
    more = {(*fact, *qualifier) for fact, row in zip(facts, said, strict=True) for qualifier in row}
    return {tuple(fact) for fact in facts} | more


def told(report: FileReport) -> list[str]:
    """Return what a report says was skipped, or may be other than it was written."""
    notes = [note for note in report.notes if note == DIRECTIONS or re.search(r"kept as they are|may not reach", note)]
    return [*(reason for reason in report.skipped if reason != EMPTY_FILES), *notes]


def reading(case: Case, out: Path) -> tuple[str, str]:
    """Return how a file was read, ``right``, ``told`` what is not, or ``silent``; and what is to be said of it."""
    try:
        report, found = read(case)
    except InputError as error:
        return ("right" if case.kind == "wrong" else "told"), f"refused: {error}"
    said = told(report)
    if case.kind == "wrong":
        return ("right" if set(report.skipped) - {EMPTY_FILES} else "silent"), "is read"
    if case.result is None:
        return ("told" if set(report.skipped) - {EMPTY_FILES} else "right"), "; ".join(said)
    expected = meant(case.result)
    if any(row[1] == RDF + "predicate" for row in found):  # the build makes qualifiers of some of them
        found, expected = snapshot(case, out), folded(expected)
    if canonical(plain(found)) == canonical(plain(expected)):
        lost = any(re.search(r"--(?:ltr|rtl)$", term) for row in expected for term in row)
        return ("silent" if lost and DIRECTIONS not in said else "right"), "loses a direction"
    return ("told" if said else "silent"), f"has {sorted(found - expected)[:3]}, not {sorted(expected - found)[:3]}"


def check(cases: Iterable[Case], out: Path, allowed: Container[str]) -> None:
    """Read the files of a suite and print how many were read right; fail with those that are read otherwise."""
    total, right, wrong = 0, 0, []
    for case in cases:
        total += 1
        how, sentence = reading(case, out)
        right += how == "right"
        if how != "right":
            print(f"{case.name}: {how}: {sentence}")
        if how not in allowed:
            wrong.append(f"{case.name}: {how}: {sentence}")
    if not total:
        pytest.skip(f"{FOLDER} does not hold this suite")
    print(f"{right} of {total} right")
    assert not wrong, f"{len(wrong)} of {total} are wrong:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("version", ["rdf11", "rdf12"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_positive_tests_give_their_triples(tmp_path: Path, version: str, language: str) -> None:
    cases = (case for case in rdf_cases(version, language) if case.kind != "wrong")
    check(cases, tmp_path / "out", ("right",))


@pytest.mark.parametrize("version", ["rdf11", "rdf12"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_wrong_files_are_refused_or_their_wrong_lines_counted(tmp_path: Path, version: str, language: str) -> None:
    check((case for case in rdf_cases(version, language) if case.kind == "wrong"), tmp_path / "out", ("right",))


def test_no_triple_of_json_ld_is_lost_in_silence(tmp_path: Path) -> None:
    check((case for case in json_cases() if case.kind != "wrong"), tmp_path / "out", ("right", "told"))


def test_json_ld_that_1_1_forbids_is_refused(tmp_path: Path) -> None:
    check((case for case in json_cases() if case.kind == "wrong"), tmp_path / "out", ("right",))
