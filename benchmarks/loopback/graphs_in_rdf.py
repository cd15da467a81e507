"""Writes MetaQA, Wiki27K and FB15k-237 as N-Triples, with tables of the same facts and linked questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_datasets.metaqa import MetaQA
from srtk_plugin_freebase.vocabulary import FREEBASE
from srtk_plugin_sparql.vocabulary import RDFS_LABEL, SKOS_ALIAS, Ids, Vocabulary

from srtk_framework.records import dumps
from srtk_framework.testing import Sample
from srtk_framework.values import Literal, Triple

FILMS = "http://example.org/films/"
ENTITY = "http://www.wikidata.org/entity/"
DIRECT = "http://www.wikidata.org/prop/direct/"
_XSD = "http://www.w3.org/2001/XMLSchema#"


@attrs.frozen
class Case:
    """One graph in RDF and as a table, with its questions.

    Attributes:
        name: Name of the set.
        ntriples: The graph in RDF.
        questions: JSON Lines with the entities of each question.
        vocabulary: Vocabulary that gives the RDF the ids of the table.
        table: Settings that build a snapshot from the published tables.
        depth: Maximum number of hops of a question.
        driver: Graph that reads the RDF.
    """

    name: str
    ntriples: Path
    questions: Path
    vocabulary: Mapping[str, Any]
    table: Mapping[str, Any]
    depth: int
    driver: str = "sparql"


def metaqa(data: Path, out: Path, questions: int) -> Case:
    """Write the film graph; its ids are names, percent-encoded in one namespace."""
    folder = data / "metaqa"
    files = sorted(folder.glob("kb*.txt"))
    vocabulary = {"prefixes": {"": FILMS}, "decode": True, "names": True}
    facts = (Triple(*line.split("|")) for file in files for line in _lines(file))
    ntriples = write_ntriples(out / "metaqa.nt", facts, {}, {}, Vocabulary(**vocabulary))
    rows = []
    for hops in (1, 2, 3):
        count = questions // 3 + (hops <= questions % 3)
        if count:
            for question in MetaQA(str(folder), hops=hops, gold_triples=False, limit=count).read():  # type: ignore[arg-type]
                rows.append(
                    {
                        "id": f"{hops}-hop-{question.id}",
                        "question": question.text,
                        "question_entities": [link.entity for link in question.links],
                        "answer_entities": list(question.answers or ()),
                    }
                )
    source = _write_questions(out / "metaqa.jsonl", rows)
    return Case("metaqa", ntriples, source, vocabulary, {"files": list(map(str, files)), "separator": "|"}, 3)


def wiki27k(data: Path, out: Path, questions: int | None = None) -> Case:
    """Write the slice of Wikidata in Wikidata's own namespaces, with labels."""
    folder = data / "wiki27k"
    files = [folder / f"{part}.txt" for part in ("train", "valid", "test")]
    vocabulary = {"prefixes": {"": ENTITY, "wdt": DIRECT}}
    known = json.loads((folder / "relation2label.json").read_text(encoding="utf-8"))
    labels = {f"wdt:{relation}": label for relation, label in known.items()}
    labels.update(line.split("\t", 1) for line in _lines(folder / "entity2label.txt"))
    rows = ((line.split("\t")) for file in files for line in _lines(file))
    facts = (Triple(subject, f"wdt:{relation}", object_) for subject, relation, object_ in rows)
    ntriples = write_ntriples(out / "wiki27k.nt", facts, labels, {}, Vocabulary(**vocabulary))
    records = [json.loads(line) for line in _lines(folder / "derived/mintaka_reachable.jsonl")]
    source = _write_questions(
        out / "wiki27k.jsonl",
        [
            {
                "id": record["id"],
                "question": record["question"],
                "question_entities": record["topic_entities"],
                "answer_entities": record["answer_entities"],
            }
            for record in records[:questions]
        ],
    )
    table = {
        "files": list(map(str, files)),
        "labels": [str(folder / name) for name in ("entity2label.txt", "relation2label.json")],
    }
    return Case("wiki27k", ntriples, source, vocabulary, table, 2)


def fb15k237(data: Path, out: Path, questions: int | None = 50) -> Case:
    """Write the slice of Freebase in Freebase's own form, with names; its joined relations are single ones here."""
    folder = data / "fb15k237"

    def dotted(id_: str) -> str:
        return id_.strip("/").replace("/", ".")

    rows = (line.split("\t") for part in ("train", "valid", "test") for line in _lines(folder / f"{part}.txt"))
    facts = (Triple(*map(dotted, row)) for row in rows)
    named = (line.split("\t", 1) for line in _lines(folder / "entity2text.txt"))
    labels = {dotted(id_): name for id_, name in named}
    ntriples = write_ntriples(out / "fb15k237.nt", facts, labels, {}, FREEBASE)
    records = [json.loads(line) for line in _lines(folder / "derived/cwq_test_reachable.jsonl")]
    source = _write_questions(
        out / "fb15k237.jsonl",
        [
            {
                "id": record["id"],
                "question": record["question"],
                "question_entities": list(map(dotted, record["topic_entities"])),
                "answer_entities": list(map(dotted, record["answer_entities"])),
            }
            for record in records[:questions]
        ],
    )
    return Case("fb15k237", ntriples, source, {}, {}, 2, "freebase")


def write_sample(path: Path, sample: Sample, vocabulary: Vocabulary) -> Path:
    """Write the graph of the conformance kit."""
    return write_ntriples(path, sample.triples, sample.labels, sample.aliases, vocabulary)


def write_ntriples(
    path: Path,
    facts: Iterable[Triple],
    labels: Mapping[str, str],
    aliases: Mapping[str, Sequence[str]],
    vocabulary: Vocabulary,
) -> Path:
    """Write facts and names of a graph, with ids as IRIs of a vocabulary."""
    import pyoxigraph as ox

    ids = Ids(vocabulary)

    def node(id_: str) -> ox.NamedNode:
        iri = ids.iri(id_)
        if iri is None:
            raise ValueError(f"{id_!r} has no IRI")
        return ox.NamedNode(iri)

    def value(text: str) -> ox.NamedNode | ox.Literal:
        if not isinstance(text, Literal):
            return node(text)
        if text.language:
            return ox.Literal(text.lexical, language=text.language)
        return ox.Literal(text.lexical, datatype=ox.NamedNode((text.datatype or "xsd:string").replace("xsd:", _XSD)))

    def triples() -> Iterator[ox.Triple]:
        for subject, relation, object_ in facts:
            yield ox.Triple(node(subject), node(relation), value(object_))
        for id_, text in labels.items():
            yield ox.Triple(node(id_), ox.NamedNode(RDFS_LABEL), ox.Literal(text))
        for id_, names in aliases.items():
            for name in names:
                yield ox.Triple(node(id_), ox.NamedNode(SKOS_ALIAS), ox.Literal(name))

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{triple} .\n" for triple in triples())
    return path


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line.rstrip("\n")


def _write_questions(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
