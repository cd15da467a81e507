"""Questions of several topics: the default search beside the same one with its topics apart, and baselines.

    OMP_NUM_THREADS=1 python -m benchmarks.operations.topics [--only cwq lcquad wc2014] [--methods beam apart]

Nothing is trained, and links are given. Of ComplexWebQuestions and LC-QuAD the questions with two topics or more are
scored; on WorldCup2014 420 conjunctive questions are made from the graph (which player of CLUB plays for COUNTRY).
`apart` is the same search, whose triples are read as if the topics were alternatives of one, so that nothing meets;
`sorted` has its triples, those first at which paths of most topics arrive; `operations` puts first what joins topics.
After each set come the differences at 1 and 5, with intervals of 95 % and p by random sign changes, corrected after
Holm, then which share of the answers was expected, which was found, and the expected calibration error, also of the
questions of one topic, unless ``--several`` leaves them out. With ``--backgrounds`` the methods are the search with
each setting ``topic_background`` that a training tries. Tables of whole subgraphs are in
build/bench/topics/NAME/comparison.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from srtk_plugin_evaluation import holm, paired

from benchmarks.common import DATA, OUT, ROOT, lacking, srtk
from benchmarks.figures import NAMES, ends, record_figure
from srtk_framework import open as open_recipe

Record = dict[str, Any]

SETS = {
    "cwq": ("fb15k237/derived/cwq_test_reachable.jsonl", "benchmarks/recipes/train-cwq.yaml"),
    "lcquad": ("dbpedia/derived/lcquad1_in_dbp15k_union.jsonl", "benchmarks/recipes/train-lcquad.yaml"),
    "wc2014": ("wc2014/WC2014.txt", ""),
}
METHODS = {
    "beam": "{use: beam, depth: 2}",
    "apart": f'{{use: "{Path(__file__).with_name("topics_apart.py")}:Apart", depth: 2}}',
    "operations": "{use: operations, inner: {use: beam, depth: 2}}",
    "ppr": "{use: ppr, depth: 2}",
    "bfs": "{use: bfs, depth: 2}",
}
BACKGROUNDS = {
    f"background {value}": f"{{use: beam, depth: 2, search: {{topic_background: {value}}}}}"
    for value in ("0.05", "0.01", "0.02", "0.1", "0.2", "null")
}
SETTINGS = ("train=null", "vars.from=0.0", "vars.to=1.0")
CUTS = (1, 3, 5, 10, 20, 50, 100)
FORMS = {
    ("plays_in_club", "plays_for_country"): (
        "which player of {} plays for {} ?",
        "who of the team of {1} is with {0} ?",
    ),
    ("plays_position", "plays_for_country"): ("name a {} in the squad of {}", "who plays as {} for {} ?"),
    ("plays_position", "plays_in_club"): ("which {} is under contract at {} ?", "name someone at {1} who is a {0}"),
    ("is_aged", "plays_for_country"): ("which footballer of {1} is {0} years old ?", "name a {} year old of {}"),
    ("is_aged", "plays_in_club"): ("who at {1} is {0} years of age ?",),
    ("wears_number", "plays_for_country"): ("who has the shirt with {} for {} ?",),
    ("plays_position", "is_aged"): ("name a {} who is {} years old",),
}
PER_FORM = 60


def football_questions() -> list[Record]:
    """Make conjunctive questions from the graph of WorldCup2014: entities that two facts have in common."""
    filled: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for line in (DATA / "wc2014/WC2014.txt").read_text(encoding="utf-8").splitlines():
        subject, relation, object_ = line.split("\t")
        filled[relation][object_].add(subject)
    chance = random.Random(5)
    made: list[Record] = []
    for (one, other), forms in FORMS.items():
        pairs = sorted((a, b) for a in filled[one] for b in filled[other] if filled[one][a] & filled[other][b])
        for a, b in chance.sample(pairs, min(PER_FORM, len(pairs))):
            text = chance.choice(forms).format(a, b)
            answers = sorted(filled[one][a] & filled[other][b])
            made.append(
                {"id": f"{len(made):03d}", "question": text, "question_entities": [a, b], "answer_entities": answers}
            )
    return made


def football_recipe(out: Path) -> Path:
    """Write the recipe for the questions on WorldCup2014."""
    _write(out / "questions.jsonl", football_questions())
    recipe = {
        "srtk": 1,
        "vars": {"out": str(out), "from": 0, "to": 1},
        "train": None,
        "questions": {"use": "jsonl", "path": str(out / "questions.jsonl")},
        "knowledge_graph": {
            "use": "local",
            "path": str(out / "graph"),
            "build": {"files": [str(DATA / "wc2014/WC2014.txt")], "format": "tsv"},
        },
        "encoder": {"use": "transformers", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "expander": {"use": "beam", "depth": 2},
        "budget": {"triples": 100},
        "output": "${out}",
        "exporters": [{"use": "jsonl", "path": "${out}/subgraphs.jsonl"}],
    }
    file = out / "recipe.yaml"
    file.write_text(json.dumps(recipe), encoding="utf-8")
    return file


def search(recipe: Path, out: Path, expander: str, *changes: str) -> list[Record]:
    """Run a recipe with an expander; return its records by id."""
    # The vectors of `onnx` are those of `transformers`, at half of the processor time.
    settings = [*SETTINGS, "encoder={use: onnx, model: minilm}", f"vars.out={out}", f"expander={expander}", *changes]
    print(f"{out.parent.name}: {expander}", file=sys.stderr, flush=True)
    _, failed = srtk(
        "run", str(recipe), "--quiet", "--fresh", *(part for change in settings for part in ("--set", change))
    )
    if failed:
        raise SystemExit(f"{out}: {failed}")
    lines = (out / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()
    return sorted(map(json.loads, lines), key=lambda record: str(record["id"]))


def asked(recipe: Path) -> list[Record]:
    """Return the questions of a recipe with their links, by id."""
    with open_recipe(str(recipe), SETTINGS) as session:
        rows = [
            {
                "id": one.id,
                "question": one.text,
                "question_entities": [link.entity for link in one.links],
                "answer_entities": list(one.answers or ()),
            }
            for one in session.dataset.read()
        ]
    return sorted(rows, key=lambda row: str(row["id"]))


def sorted_by_topics(record: Record) -> Record:
    """Put the triples first that have a node which most topics reach by two of the triples or one."""
    near: dict[str, set[str]] = defaultdict(set)
    for s, _, o in record["triplets"]:
        near[s].add(o)
        near[o].add(s)
    reached: dict[str, int] = defaultdict(int)
    topics = set(record["question_entities"])
    for topic in topics:
        for node in set.union(near[topic], *(near[one] for one in near[topic])) - topics:
            reached[node] += 1
    order = sorted(
        range(len(record["triplets"])),
        key=lambda i: -max(reached.get(end, 0) for end in (record["triplets"][i][0], record["triplets"][i][2])),
    )
    columns = ("triplets", "scores", "triplet_paths", "provenance", "qualifiers")
    return {**record, **{name: [record[name][i] for i in order] for name in columns}}


def covered(records: Sequence[Record], most: int) -> list[float]:
    """Return 1 for each question with an answer in the first triples, 0 for the others."""
    found = []
    for record in records:
        wanted = set(record["answer_entities"]) - set(record["question_entities"])
        found.append(float(any({s, o} & wanted for s, _, o in record["triplets"][:most])))
    return found


def differences(found: Mapping[str, Sequence[Record]]) -> list[str]:
    """Compare the first method with each other one, at 1 and 5; return rows of a table."""
    first, *others = found
    pairs = [(other, most) for other in others for most in (1, 5)]
    estimates = [paired(covered(found[first], most), covered(found[other], most)) for other, most in pairs]
    corrected = holm([estimate["p"] for estimate in estimates])
    return [
        f"| {first} - {other} at {most} | {one['mean']:+.3f} ({ends(one)}) | {p:.4f} |"
        for (other, most), one, p in zip(pairs, estimates, corrected, strict=True)
    ]


def expectation(records: Sequence[Record], bins: int = 10) -> tuple[float, float, float]:
    """Return the mean of the expected recall, that of the recall, and the expected calibration error."""
    pairs = []
    for record in records:
        if "expected_recall" in record and record["answer_entities"]:
            nodes = {end for s, _, o in record["triplets"] for end in (s, o)}
            found = sum(answer in nodes for answer in record["answer_entities"]) / len(record["answer_entities"])
            pairs.append((record["expected_recall"], found))
    groups: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for expected, found in pairs:
        groups[min(int(expected * bins), bins - 1)].append((expected, found))
    error = sum(abs(sum(e for e, _ in rows) - sum(f for _, f in rows)) for rows in groups.values()) / len(pairs)
    return sum(e for e, _ in pairs) / len(pairs), sum(f for _, f in pairs) / len(pairs), error


def _write(file: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file


def compare(name: str, out: Path, methods: Sequence[str], all_questions: bool) -> None:
    """Run methods on a set, and print a row for each."""
    out.mkdir(parents=True, exist_ok=True)
    recipe = football_recipe(out) if name == "wc2014" else ROOT / SETS[name][1]
    every = asked(recipe)
    questions = [row for row in every if len(set(row["question_entities"])) > 1]
    several = f"questions={_write(out / 'several.jsonl', questions)}"
    found: dict[str, list[Record]] = {}
    for method in methods:
        found[method] = search(recipe, out / method.replace(" ", "-"), {**METHODS, **BACKGROUNDS}[method], several)
        if method == "apart":
            found["sorted"] = [sorted_by_topics(record) for record in found[method]]
    files = [_write(out / f"{method}.jsonl", records) for method, records in found.items()]
    page = out / "comparison"
    _, failed = srtk("evaluate", *map(str, files), "--report", str(page))
    if failed:
        raise SystemExit(f"{name}: {failed}")
    for method, records in found.items():
        shares = {most: sum(covered(records, most)) / len(records) for most in CUTS}
        for most, share in shares.items():
            record_figure(NAMES[name], method, f"answer coverage at {most}", share, len(records))
        cells = " | ".join(f"{share:.3f}" for share in shares.values())
        print(f"| {name}, {len(records)} questions | {method} | {cells} |", flush=True)
    print("\n".join(differences(found)), flush=True)
    if "beam" not in found:
        return
    scored = {"several topics": found["beam"]}
    rest = [row for row in every if len(set(row["question_entities"])) < 2]
    if rest and all_questions:
        one = f"questions={_write(out / 'one.jsonl', rest)}"
        scored["one topic"] = search(recipe, out / "one", METHODS["beam"], one)
        scored["all"] = [*scored["several topics"], *scored["one topic"]]
    for which, records in scored.items():
        expected, recall, error = expectation(records)
        print(f"| {name}, {which} | {len(records)} | {expected:.3f} | {recall:.3f} | {error:.3f} |", flush=True)


def main() -> int:
    """Run the sets with available data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=sorted(SETS), default=sorted(SETS))
    parser.add_argument(
        "--methods", nargs="*", choices=METHODS, default=list(METHODS), help="the first less the others"
    )
    parser.add_argument("--backgrounds", action="store_true", help="compare settings of one search, not methods")
    parser.add_argument("--several", action="store_true", help="leave out the questions of one topic")
    args = parser.parse_args()
    print("| set | method | " + " | ".join(f"at {most}" for most in CUTS) + " |")
    print("|---|---|" + "--:|" * len(CUTS))
    for name in args.only:
        if missing := lacking(SETS[name][0]):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        methods = list(BACKGROUNDS) if args.backgrounds else args.methods
        compare(name, OUT / "topics" / name, methods, not args.several)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
