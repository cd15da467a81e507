"""Links of raw questions as they are written and in small letters: recall and precision of their topics.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.linking.raw_links [--only NAME ...] [--limit N] [--show N]
    OMP_NUM_THREADS=1 python -m benchmarks.linking.raw_links --only mintaka-de mintaka-es qald9-de qald9-es [--plain]

The sets, their halves and their graphs are those of public_sets.py, the linker is the dictionary as `srtk ask` has it.
Beside it stands the linker with exact names only (`fuzzy: 1`). `answers` is the share of a question's gold answers
among its 50 triples, with the links given and with those of the text as it is written and in small letters.

`mintaka-de` and `mintaka-es` are the questions of `mintaka` in German and Spanish, `mintaka2-LANGUAGE` others that name
entities of Wiki27K alone; the rules were made without them, and their answers are mostly not in it. `qald9-LANGUAGE`
are the questions of QALD-9 whose entities and at least one answer are in the slice of DBpedia. The data name entities
in English alone; countries, continents and languages get their German and Spanish names of CLDR too (the package
`babel`), by their English ones. `--plain` has a graph without those names.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml
from srtk_plugin_datasets.qald import QALD

from benchmarks.answers.public_sets import CASES, DATA, OUT, ROOT, asked, depths, opened
from benchmarks.figures import NAMES, record_figure
from srtk_framework.records import dumps
from srtk_framework.run import Session
from srtk_framework.text import fold, local_name
from srtk_framework.values import Question

SETS = ("demo-7", "metaqa-1", "lcquad", "mintaka", "cwq")
BATCH = 32
REGIONS = {"002": "Africa", "003": "North America", "005": "South America", "142": "Asia", "150": "Europe"}
"""Continents by their codes in CLDR; other groups of countries are no entities of the graphs."""
SOURCES = {
    "mintaka2": "wikidata_qa/mintaka/mintaka_dev.json",
    "mintaka": "wiki27k/derived/mintaka_reachable.jsonl",
    "qald9": "dbpedia/derived/dbp15k_en_union.tsv.gz",
}
TRANSLATED = (
    "mintaka-de",
    "mintaka-es",
    "mintaka2-en",
    "mintaka2-de",
    "mintaka2-es",
    "qald9-en",
    "qald9-de",
    "qald9-es",
)


def cldr_names() -> dict[str, list[tuple[str, str]]]:
    """Return the German and Spanish names, each with its language, of what has an English name in CLDR, by that."""
    import pycountry
    from babel import Locale

    english, others = Locale("en"), {language: Locale(language) for language in ("de", "es")}
    found: dict[str, list[tuple[str, str]]] = {}
    for kind in ("territories", "languages"):
        for code, name in getattr(english, kind).items():
            if kind == "languages" or len(code) == 2 or code in REGIONS:
                country = pycountry.countries.get(alpha_2=code) if kind == "territories" else None
                own = [name, *(getattr(country, field, "") for field in ("name", "official_name", "common_name"))]
                every = ((getattr(other, kind).get(code), language) for language, other in others.items())
                names = [(other, language) for other, language in every if other]
                found.update({fold(one): names for one in own if one})
    return found


def write_names(labels: Iterable[tuple[str, str]], file: Path) -> None:
    """Write the English label and the names of CLDR of the entities that have any."""
    known = cldr_names()
    rows = [(id_, label, known.get(fold(label), ())) for id_, label in labels]
    lines = [
        f"{id_}\t{name}\t{tag}\n" for id_, label, others in rows if others for name, tag in ((label, "en"), *others)
    ]
    file.write_text("".join(lines), encoding="utf-8")


def mintaka_labels() -> list[tuple[str, str]]:
    """Return the entities of Wiki27K with their English labels."""
    lines = (DATA / "wiki27k/entity2label.txt").read_text(encoding="utf-8").splitlines()
    return [(id_, label) for id_, label in (line.split("\t", 1) for line in lines)]


def dbpedia_labels() -> list[tuple[str, str]]:
    """Return the entities of the slice of DBpedia with their English names."""
    with gzip.open(DATA / SOURCES["qald9"], "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    ids = dict.fromkeys(id_ for subject, _, object_ in rows for id_ in (subject, object_))
    return [(id_, local_name(id_)) for id_ in ids]


def mintaka_texts(language: str, rest: set[str]) -> list[dict[str, Any]]:
    """Return the questions of Mintaka that can be answered on Wiki27K in a language.

    Args:
        language: Code of the language.
        rest: Entities; with any, all other questions that name only these are returned, whose answers may be missing.
    """
    whole = json.loads((DATA / SOURCES["mintaka2"]).read_text(encoding="utf-8"))
    texts = {one["id"]: {"en": one["question"], **one["translations"]}[language] for one in whole}
    records = list(map(json.loads, (DATA / SOURCES["mintaka"]).read_text(encoding="utf-8").splitlines()))
    if rest:
        asked = {record["id"] for record in records}
        topics = {
            one["id"]: [entity["name"] for entity in one["questionEntity"] if entity["entityType"] == "entity"]
            for one in whole
        }
        answers = {
            one["id"]: [answer["name"] for answer in one["answer"]["answer"] or ()]
            for one in whole
            if one["answer"]["answerType"] == "entity"
        }
        records = [
            {"id": id_, "topic_entities": row, "answer_entities": answers[id_]}
            for id_, row in topics.items()
            if row and rest.issuperset(row) and id_ not in asked and answers.get(id_)
        ]
    return [{**record, "question": texts[record["id"]]} for record in records if record["id"] in texts]


def qald_texts(language: str, known: set[str]) -> list[dict[str, Any]]:
    """Return the questions of QALD-9, in a language, whose entities and an answer are among the known ids."""
    sets = [QALD(path=str(DATA / "dbpedia/qald9"), split=split, language=language) for split in ("train", "test")]
    found = []
    for split, one in ((part.split, one) for part in sets for one in part.read()):
        topics, answers = one.extra["topic_entities"], [id_ for id_ in one.answers or () if id_ in known]
        if topics and answers and known.issuperset(topics):
            found.append(
                {"id": f"{split}-{one.id}", "question": one.text, "topic_entities": topics, "answer_entities": answers}
            )
    return found


def translated(name: str, plain: bool) -> depths.Case:
    """Write the questions and names of a set in another language, and make its case.

    Args:
        name: Name of the set and code of the language.
        plain: Whether entities have their English names alone.
    """
    source, _, language = name.partition("-")
    folder = OUT / "languages"
    folder.mkdir(parents=True, exist_ok=True)
    recipe = yaml.safe_load(
        (ROOT / CASES["lcquad" if source == "qald9" else "mintaka"].recipe).read_text(encoding="utf-8")
    )
    recipe.pop("train")
    prefix = "http://dbpedia.org/resource/"
    labels = dbpedia_labels() if source == "qald9" else mintaka_labels()
    if source != "qald9":
        records = mintaka_texts(language, {id_ for id_, _ in labels} if source == "mintaka2" else set())
    else:
        records = qald_texts(language, {id_.replace(prefix, "dbr:") for id_, _ in labels})
    questions, names = folder / f"{name}.jsonl", folder / f"{source}-names.tsv"
    questions.write_text("".join(dumps(record) + "\n" for record in records), encoding="utf-8")
    write_names(labels, names)
    graph = recipe["knowledge_graph"]
    if not plain:
        graph["path"] = str(folder / f"{source}-graph")
        graph["build"]["labels"] = [str(names), *graph["build"].get("labels", ())]
    recipe["questions"] = {"use": "jsonl", "path": str(questions), "entities_field": "topic_entities"}
    return depths.Case(recipe, (SOURCES[source],))


def counted(linker: Any, questions: Sequence[Question], small: bool, show: int) -> tuple[float, float]:
    """Return recall and precision of the topics of questions; print some of those that lack one."""
    right = wanted = found = 0
    for start in range(0, len(questions), BATCH):
        some = questions[start : start + BATCH]
        texts = [one.text.lower() if small else one.text for one in some]
        for one, text, links in zip(some, texts, linker.link(texts), strict=True):
            gold, own = {link.entity for link in one.links}, {link.entity for link in links}
            right, wanted, found = right + len(gold & own), wanted + len(gold), found + len(own)
            if gold - own and show:
                show -= 1
                print(f"  {text!r} lacks {sorted(gold - own)}, has {sorted(own)}", file=sys.stderr)
    return right / wanted, right / max(found, 1)


def answer_recall(session: Session, questions: Sequence[Question]) -> float:
    """Return the mean share of the gold answers in the subgraphs of questions."""
    shares = []
    for one in session.retrieve(questions, read=False):
        nodes = {id_ for triple in one.subgraph.triples for id_ in (triple.subject, triple.object)}
        gold = set(one.question.answers or ())
        shares.append(len(gold & nodes) / len(gold) if gold else 0.0)
    return sum(shares) / len(shares)


def keep(where: str, cells: Sequence[tuple[float, float]], recall: Sequence[float], n: int) -> None:
    """Keep the figures of a set for the results."""
    methods = ("dictionary", "dictionary, fuzzy: 1")
    places = (where, f"{where}, small letters")
    for (place, method), (right, precise) in zip(itertools.product(places, methods), cells, strict=True):
        record_figure(place, method, "recall of the topics", right, n)
        record_figure(place, method, "precision of the topics", precise, n)
    asked_as = ((where, "links given"), (where, "dictionary"), (places[1], "dictionary"))
    for (place, method), share in zip(asked_as, recall, strict=True):
        record_figure(place, method, "answer recall at 50", share, n)


def main() -> int:
    """Count the links of each set with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=[*CASES, *TRANSLATED], default=list(SETS))
    parser.add_argument("--limit", type=int, default=300, help="most questions of a set (%(default)s)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print questions that lack a topic")
    parser.add_argument("--plain", action="store_true", help="English names alone in the graphs of the other languages")
    args = parser.parse_args()
    print(
        "| set | n | as written | exact names | small letters | exact names | answers |\n|---|--:|--:|--:|--:|--:|--:|"
    )
    for name in args.only:
        case = CASES[name] if name in CASES else translated(name, args.plain)
        case = attrs.evolve(case, limit=args.limit)
        if missing := depths.prepare(name, case):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        rows: dict[tuple[bool, str], tuple[float, float]] = {}
        recall: list[float] = []
        for block in ("{use: dictionary}", "{use: dictionary, fuzzy: 1}"):
            with opened(case, f"entity_linker={block}") as session:
                questions = [one for one in asked(session, case) if one.links]
                for small in (False, True):
                    show = args.show if small and "fuzzy" not in block else 0
                    rows[small, block] = counted(session.linker, questions, small, show)
                if not recall:
                    raw = [attrs.evolve(one, links=()) for one in questions]
                    lower = [attrs.evolve(one, text=one.text.lower()) for one in raw]
                    recall = [answer_recall(session, some) for some in (questions, raw, lower)]
        cells = [rows[key] for key in sorted(rows, key=lambda key: (key[0], len(key[1])))]
        shown = " | ".join(f"{right:.3f} {precise:.3f}" for right, precise in cells)
        answers = " ".join(f"{share:.3f}" for share in recall)
        print(f"| {name} | {len(questions)} | {shown} | {answers} |", flush=True)
        keep(NAMES.get(name, name), cells, recall, len(questions))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
