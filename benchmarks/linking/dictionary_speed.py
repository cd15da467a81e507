"""Measures the dictionary linker without context over a snapshot of a million labels: CPU time, memory, opening.

    OMP_NUM_THREADS=1 python -m benchmarks.linking.dictionary_speed [--labels 1000000] [--questions 20000] [--exact]

The graph is made up, by a seed: names of one to four words that are drawn from a vocabulary with falling frequencies,
so that some names belong to hundreds of entities; one in five has an alias; five triples an entity, more for a few.
Built once by `srtk graph build` into build/bench/dictionary-speed. Questions are templates around names; some in lower
case, some without an entity. Each of these kinds is also timed apart. The linker runs in a process of its own, whose
resident memory is read from the system.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import OUT, srtk
from benchmarks.figures import record_figure
from srtk_framework.records import write_json

FOLDER = OUT / "dictionary-speed"
VOCABULARY = 120_000
BEGINNINGS = ("", "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "sh", "t", "v", "w", "z")
ENDS = ("a", "al", "an", "ar", "e", "el", "en", "in", "is", "o", "on", "or", "u", "ul")
SYLLABLES = [beginning + end for beginning in BEGINNINGS for end in ENDS]
TEMPLATES = (
    "Who directed {a}?",
    "what is the capital of {a}",
    "which actors were in {a} and {b}",
    "When was {a} born?",
    "In which country is {a} located, and who founded it?",
    "Is {a} older than {b}?",
    "films by the {a} director",
    "how many people live there now",
)


class Words:
    """Draws words of a made-up vocabulary: half of them evenly, half the first ones far more often (Zipf)."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            made["".join(self.chance.choices(SYLLABLES, k=self.chance.choice((1, 2, 2, 3, 3, 4))))] = None
        self.words = list(made)

    def word(self) -> str:
        """Draw a word."""
        if self.chance.random() < 0.5:
            return self.chance.choice(self.words)
        return self.words[min(int(VOCABULARY ** self.chance.random()) - 1, VOCABULARY - 1)]

    def name(self) -> str:
        """Draw a name; one-word names are drawn evenly, so that few entities share one."""
        length = self.chance.choice((1, 2, 2, 2, 3, 3, 4))
        words = [self.chance.choice(self.words)] if length == 1 else [self.word() for _ in range(length)]
        return " ".join(word if word in ("of", "the") else word.capitalize() for word in words)


def write(labels: int, seed: int) -> tuple[list[str], list[str]]:
    """Write the input files; return the names and the arguments of `srtk graph build`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    words, chance = Words(seed), random.Random(seed + 1)
    names = [words.name() for _ in range(labels)]
    triples, label_file, alias_file = (FOLDER / f"{kind}.tsv" for kind in ("triples", "labels", "aliases"))
    with triples.open("w") as out, label_file.open("w") as named, alias_file.open("w") as further:
        for number, name in enumerate(names):
            named.write(f"Q{number}\t{name}\n")
            if number % 5 == 0:
                further.write(f"Q{number}\t{words.name()}\n")
            for _ in range(5):
                other = int(labels ** chance.random()) % labels
                out.write(f"Q{number}\tP{chance.randrange(200)}\tQ{other}\n")
    return names, ["--labels", str(label_file), "--aliases", str(alias_file), str(triples)]


def questions(names: list[str], count: int, seed: int) -> Iterator[str]:
    """Make up questions about names."""
    chance = random.Random(seed + 2)
    for _ in range(count):
        text = chance.choice(TEMPLATES).format(a=chance.choice(names), b=chance.choice(names))
        yield text.lower() if chance.random() < 0.3 else text


def kinds(names: list[str], count: int, seed: int) -> dict[str, list[str]]:
    """Make up questions as they are written, the same in lower case, and questions without a name of the graph."""
    chance, words = random.Random(seed + 3), Words(seed + 4)
    usual = [chance.choice(TEMPLATES[:-1]).format(a=chance.choice(names), b=chance.choice(names)) for _ in range(count)]
    made = [f"how many {words.word()}x people live there {words.word()}q" for _ in range(count)]
    return {"usual": usual, "lower_case": [text.lower() for text in usual], "without_a_name": made}


def build(labels: int, seed: int) -> float:
    """Build the snapshot and the questions where they are missing; return the seconds of the build, or 0."""
    graph = FOLDER / f"graph-{labels}"
    if (graph / "meta.json").exists():
        return 0.0
    names, arguments = write(labels, seed)
    (FOLDER / f"names-{labels}.json").write_text(json.dumps(names[:200_000]))
    started = time.perf_counter()
    _, failed = srtk("graph", "build", "--quiet", "--out", str(graph), *arguments)
    if failed:
        raise SystemExit(f"the snapshot was not built: {failed}")
    return time.perf_counter() - started


def measure(labels: int, count: int, seed: int, batch: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Open the graph, link the questions, and print the measurements; run in a process of its own."""
    names = json.loads((FOLDER / f"names-{labels}.json").read_text())
    texts, apart = list(questions(names, count, seed)), kinds(names, count // 10, seed)
    del names
    from srtk_plugin_local.dictionary.linker import DictionaryLinker
    from srtk_plugin_local.snapshot.graph import LocalGraph

    before = _resident()
    started = time.perf_counter()
    graph = LocalGraph(str(FOLDER / f"graph-{labels}"))
    graph.open()
    linker = DictionaryLinker(graph, **settings)
    linker.open()
    opened = time.perf_counter() - started
    first = time.perf_counter()
    linker.link(texts[:1])
    first = time.perf_counter() - first
    slipped = time.perf_counter()
    linker.link(["Xqzvw is no name"])
    slipped = time.perf_counter() - slipped
    busy, found = time.process_time(), 0
    for start in range(0, len(texts), batch):
        found += sum(map(bool, linker.link(texts[start : start + batch])))
    busy = time.process_time() - busy
    milliseconds = {}
    for kind, some in apart.items():
        started_at = time.process_time()
        for start in range(0, len(some), batch):
            linker.link(some[start : start + batch])
        milliseconds[f"{kind}_ms"] = round(1000 * (time.process_time() - started_at) / len(some), 3)
    return {
        **milliseconds,
        "labels": labels,
        "questions": count,
        "batch": batch,
        "open_seconds": round(opened, 4),
        "first_question_seconds": round(first, 4),
        "first_question_without_a_name_seconds": round(slipped, 2),
        "cpu_ms_a_question": round(1000 * busy / count, 3),
        "with_a_link": found,
        "resident_mib_before": before,
        "resident_mib": _resident(),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _resident() -> int:
    """Return the resident memory of this process in MiB, pages of mapped files included."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))


def main() -> int:
    """Build if necessary, measure in another process, print and store the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exact", action="store_true", help="exact names only, no near ones")
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    settings = {"fuzzy": 1.0} if args.exact else {}
    if args.inner:
        print(json.dumps(measure(args.labels, args.questions, args.seed, args.batch, settings)))
        return 0
    built = build(args.labels, args.seed)
    command = [sys.executable, "-m", "benchmarks.linking.dictionary_speed", "--inner", *sys.argv[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = {**json.loads(done.stdout.splitlines()[-1]), "build_seconds": round(built, 1), "exact": args.exact}
    print(json.dumps(figures, indent=1))
    write_json(OUT / "dictionary-speed.json", figures)
    where, n = "a million labels", args.questions
    record_figure(where, "dictionary", "CPU ms a question", figures["cpu_ms_a_question"], n)
    for kind in ("usual", "lower_case", "without_a_name"):
        words = f"CPU ms a question, {kind.replace('_', ' ')}"
        record_figure(where, "dictionary", words, figures[f"{kind}_ms"], n // 10)
    record_figure(where, "dictionary", "resident MiB", figures["resident_mib"], n)
    record_figure(where, "dictionary", "ms to open", 1000 * figures["open_seconds"], n)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
