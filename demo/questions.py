"""Write the demo's questions: hand-written wording, topics drawn by seed, answers computed by a query on the graph.

python demo/questions.py --graph build/demo/world --out build/demo/questions.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from queries import Tables, content_words
from topics import Topics

SEED = 7
MOST_ANSWERS = 50
MOST_USES = 3
"""Maximum number of questions per topic."""


def read_templates() -> dict[str, Any]:
    """Read the question templates from the folder of this file."""
    wording: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "templates.yaml").read_text(encoding="utf-8"))
    return wording


def make_query(topics: list[str], path: list[str], choice: str | None) -> str:
    """Write the query of a question as text."""
    parts = " & ".join(" > ".join([topic, *path]) for topic in topics)
    return f"{parts} | {choice}" if choice else parts


class Writer:
    """Fills templates with topics; the same tables and seed give the same questions.

    Args:
        tables: The graph.
        wording: What ``templates.yaml`` holds.
        seed: Decides the topics and the phrasings.
    """

    def __init__(self, tables: Tables, wording: dict[str, Any], seed: int) -> None:
        self.tables, self.wording, self.seed = tables, wording, seed
        self.topics = Topics(tables, wording)
        self.uses: Counter[str] = Counter()

    def questions(self) -> Iterator[dict[str, Any]]:
        """Yield all questions, in the order of the templates."""
        count = 0
        for template in self.wording["templates"]:
            for record in self._fill(template):
                count += 1
                yield {"id": f"q{count:03d}", **record}

    def _fill(self, template: dict[str, Any]) -> Iterator[dict[str, Any]]:
        path, choice = template["path"], template.get("then")
        chance = random.Random(f"{self.seed} {template['from']} {path} {choice} {template.get('both')}")
        phrasings = chance.sample(template["ask"], len(template["ask"]))
        made = 0
        for topic in self.topics.drawn(template, chance):
            if made == template["count"]:
                return
            if self.uses[topic] >= MOST_USES:
                continue
            chosen = self._chosen(topic, template, chance)
            if not chosen:
                continue
            query = make_query(chosen, path, choice)
            answers = self.tables.answer(query)
            if not 1 <= len(answers) <= MOST_ANSWERS:
                continue
            self.uses.update(chosen)
            yield {
                "question": self._say(phrasings[made % len(phrasings)], chosen, chance),
                "answer_entities": answers,
                "gold_paths": [path],
                "gold_triples": self.tables.triples(query, answers),
                "hops": len(path),
                "query": query,
                "gold_entities": chosen,
            }
            made += 1
        raise ValueError(
            f"only {made} of {template['count']} questions could be made of {path} from {template['from']}"
        )

    def _chosen(self, topic: str, template: dict[str, Any], chance: random.Random) -> list[str]:
        """Return the topics of one question; empty if this topic gives no suitable question."""
        reached = self.tables.walk(topic, template["path"])
        if not template.get("both"):
            return [topic] if len(reached) >= (3 if template.get("then") else 1) else []
        back = [step.removeprefix("^") if step.startswith("^") else "^" + step for step in reversed(template["path"])]
        others = {other for node in reached for other in self.tables.walk(node, back)} - {topic} - reached
        fit = [
            other
            for other in sorted(others & self.topics.of_kind(template))
            if len(self.tables.walk(other, template["path"]) & reached) <= 3
        ]
        return [topic, chance.choice(fit)] if fit else []

    def _say(self, phrasing: str, chosen: list[str], chance: random.Random) -> str:
        names = [self.topics.surface(topic, chance) for topic in chosen]
        owners = [name + ("'" if name.endswith("s") else "'s") for name in names]
        said = phrasing.format(x=names[0], xs=owners[0], y=names[-1])
        return said[0].upper() + said[1:]


def shares_words(record: dict[str, Any], labels: dict[str, str]) -> bool:
    """Check whether a question has a content word in common with the labels of its gold relations."""
    relations = [step.removeprefix("^") for path in record["gold_paths"] for step in path]
    return bool(content_words(record["question"]) & content_words(" ".join(labels[r] for r in relations)))


def main() -> int:
    """Write the questions as JSON lines."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--graph", type=Path, required=True, help="folder that world.py wrote")
    parser.add_argument("--out", type=Path, required=True, help="file for the questions")
    parser.add_argument("--seed", type=int, default=SEED, help="draws other topics and wordings (%(default)s)")
    args = parser.parse_args()
    tables = Tables(args.graph)
    records = list(Writer(tables, read_templates(), args.seed).questions())
    args.out.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    partial = args.out.with_name(args.out.name + ".partial")
    partial.write_text(lines, encoding="utf-8", newline="\n")
    partial.replace(args.out)
    hops = ", ".join(f"{n} of {h} hop{'s' * (h > 1)}" for h, n in sorted(Counter(r["hops"] for r in records).items()))
    apart = sum(not shares_words(record, tables.labels) for record in records)
    print(f"{args.out}: {len(records)} questions: {hops}; {apart} share no content word with their relations' labels")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
