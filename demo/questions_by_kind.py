"""Write the demo's questions by kind: counts, superlatives, comparisons and others, answered by tables of the graph.

python demo/questions_by_kind.py --graph build/demo/world --out build/demo/questions_by_kind.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from queries import Tables, read_rows
from questions import SEED, read_templates
from topics import Topics

MOST_USES = 3
"""Maximum number of questions per topic."""
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ROUND = sorted({digit * 10**power for digit in (1, 2, 3, 5) for power in range(3, 10)})
"""Numbers that bound a value."""
OTHERS = ("city", "town", "country", "capital")
"""Heads of class names that also name what is no subdivision in the graph."""


class KindWriter:
    """Fills templates of several kinds; the same tables and seed give the same questions.

    Args:
        tables: The graph.
        wording: What ``templates.yaml`` holds: names of topics.
        templates: Those of ``kinds.yaml``.
        folder: Where ``qualifiers.tsv`` lies.
        seed: Decides the topics and the phrasings.
    """

    def __init__(
        self, tables: Tables, wording: dict[str, Any], templates: list[dict[str, Any]], folder: Path, seed: int
    ) -> None:
        self.tables, self.templates, self.seed = tables, templates, seed
        self.topics = Topics(tables, wording)
        self.uses: Counter[str] = Counter()
        self.years: dict[tuple[str, str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for subject, relation, object_, name, value in read_rows(folder / "qualifiers.tsv"):
            if name in ("start", "end"):
                self.years[subject, relation, object_][name].append(int(value.split('"')[1][:4]))

    def questions(self) -> Iterator[dict[str, Any]]:
        """Yield all questions, in the order of the templates."""
        count = 0
        for template in self.templates:
            for record in self._fill(template):
                count += 1
                yield {"id": f"o{count:03d}", **record}

    def _fill(self, template: dict[str, Any]) -> Iterator[dict[str, Any]]:
        chance = random.Random(f"{self.seed} {json.dumps(template, sort_keys=True)}")
        phrasings = chance.sample(template["ask"], len(template["ask"]))
        made = 0
        for topic in self.topics.drawn(template, chance):
            if made == template["count"]:
                return
            if self.uses[topic] >= MOST_USES:
                continue
            found = getattr(self, "_" + template["kind"].replace("-", "_"))(topic, template, chance)
            if found is None:
                continue
            chosen, answers, triples, more = found
            self.uses.update(chosen)
            names = [self.topics.surface(one, chance) for one in chosen]
            said = phrasings[made % len(phrasings)].format(x=names[0], y=names[-1], **more)
            made += 1
            yield {
                "question": said[0].upper() + said[1:],
                "kind": template["kind"],
                **({"answer_entities": answers} if answers else {}),
                **({"gold_paths": [template["path"]]} if template.get("path") and answers else {}),
                "gold_triples": sorted(triples),
                "gold_entities": chosen,
                **more,
            }
        raise ValueError(f"only {made} of {template['count']} questions could be made of {template}")

    # One method for each kind: the topics, the answers, the triples that decide, and further fields; or None.

    def _set(self, topic: str, template: dict[str, Any]) -> list[str]:
        """Return what the path reaches, if it is of a size that the template allows."""
        reached = sorted(self.tables.walk(topic, template["path"]) - {topic})
        return reached if template["least"] <= len(reached) <= template["most"] else []

    def _facts(self, topic: str, path: list[str], ends: list[str]) -> list[list[str]]:
        return self.tables.triples(" > ".join([topic, *path]), ends)

    def _count(self, topic: str, template: dict[str, Any], _: random.Random) -> Any:
        reached = self._set(topic, template)
        if not reached:
            return None
        return [topic], reached, self._facts(topic, template["path"], reached), {"number": len(reached)}

    def _superlative(self, topic: str, template: dict[str, Any], _: random.Random) -> Any:
        reached = self._set(topic, template)
        values = {node: self.tables.number(node, template["value"]) for node in reached}
        known = {node: value for node, value in values.items() if value is not None}
        rank = template.get("rank", 1)
        # A set without a value for each member has no certain answer, and equal values have no order.
        if not reached or len(known) < len(reached) or len(set(known.values())) < len(known):
            return None
        order = sorted(known, key=lambda node: known[node], reverse=template["order"] == "max")
        facts = self._facts(topic, template["path"], reached)
        return [topic], [order[rank - 1]], [*facts, *self._valued(reached, template["value"])], {}

    _ordinal = _superlative

    def _valued(self, nodes: list[str], relation: str) -> list[list[str]]:
        return [[node, relation, self.tables.out[relation][node][0]] for node in nodes]

    # Bounds on values, and classes

    def _value(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        found = self._within(topic, template, template["value"], chance)
        if found is None:
            return None
        reached, kept, bound = found
        facts = self._facts(topic, template["path"], reached)
        return [topic], kept, [*facts, *self._valued(reached, template["value"])], {"bound": bound}

    def _value_count(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        found = self._value(topic, template, chance)
        return None if found is None else (*found[:3], {**found[3], "number": len(found[1])})

    def _value_superlative(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        found = self._within(topic, template, template["bounded"], chance)
        if found is None:
            return None
        reached, kept, bound = found
        values = {node: self.tables.number(node, template["value"]) for node in reached}
        known = {node: value for node, value in values.items() if value is not None}
        order = sorted(known, key=lambda node: known[node], reverse=template["order"] == "max")
        # Without the bound another one would be the answer.
        if len(known) < len(reached) or len(set(known.values())) < len(known) or len(kept) < 2 or order[0] in kept:
            return None
        facts = [*self._facts(topic, template["path"], reached), *self._valued(reached, template["bounded"])]
        best = next(node for node in order if node in kept)
        return [topic], [best], [*facts, *self._valued(kept, template["value"])], {"bound": bound}

    def _within(
        self, topic: str, template: dict[str, Any], relation: str, chance: random.Random
    ) -> tuple[list[str], list[str], str] | None:
        """Return the set, those of it on one side of a round number, and that number in words or digits."""
        reached = self._set(topic, template)
        values = {node: self.tables.number(node, relation) for node in reached}
        known = {node: value for node, value in values.items() if value is not None}
        bounds = [bound for bound in ROUND if known and min(known.values()) < bound < max(known.values())]
        bounds = [bound for bound in bounds if bound not in known.values()]
        if not bounds or len(known) < len(reached):
            return None
        bound = chance.choice(bounds)
        kept = [node for node in reached if (known[node] > bound) == (template["than"] == "more")]
        return reached, kept, self._written(bound, chance)

    def _written(self, number: int, chance: random.Random) -> str:
        """Write a round number in digits or, of millions, in words."""
        forms = [f"{number:,}"]
        for name, size in (("billion", 10**9), ("million", 10**6)):
            if number >= size:
                count = number // size
                forms += [f"{count} {name}", *([f"{NUMBERS[count]} {name}"] if count < len(NUMBERS) else [])]
                break
        return chance.choice(forms)

    def _type(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        reached = self._set(topic, template)
        [back], relation = template["path"], template["class"]
        groups: dict[str, list[str]] = defaultdict(list)
        for node in reached:
            for one in self.tables.out[relation][node]:
                groups[one].append(node)
        names = {one: self.tables.labels[one].partition(" (")[0].lower() for one in groups}
        heads = Counter(name.split()[-1] for name in names.values())
        # A class whose head another has as well could be meant by both names.
        plain = [one for one in sorted(groups) if not names[one].endswith(OTHERS) and " with " not in names[one]]
        clear = [one for one in plain if heads[names[one].split()[-1]] == 1]
        if len(groups) < 2 or not clear:
            return None
        chosen = chance.choice(clear)
        kept = groups[chosen]
        name = names[chosen]
        several = name[:-1] + "ies" if name.endswith("y") else name if name.endswith("s") else name + "s"
        facts = [*self._facts(topic, [back], kept), *([node, relation, chosen] for node in kept)]
        return [topic], kept, facts, {"classes": several}

    def _type_count(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        found = self._type(topic, template, chance)
        return None if found is None else (*found[:3], {**found[3], "number": len(found[1])})

    # Several topics, and time

    def _comparison(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        others = sorted(self.topics.of_kind(template) - {topic})
        other = chance.choice(others)
        values = [self.tables.number(node, template["value"]) for node in (topic, other)]
        if None in values or values[0] == values[1]:
            return None
        return [topic, other], [], self._valued([topic, other], template["value"]), {}

    def _difference(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        return self._two(topic, template, chance, shared=False)

    def _intersection(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        return self._two(topic, template, chance, shared=True)

    def _two(self, topic: str, template: dict[str, Any], chance: random.Random, shared: bool) -> Any:
        reached = self._set(topic, template)
        others = sorted(self.topics.of_kind(template["other"])) if reached else []
        back = template["other"]["path"]
        for other in chance.sample(others, len(others)):
            beyond = self.tables.walk(other, back)
            both = sorted(beyond.intersection(reached))
            rest = sorted(set(reached) - beyond)
            if both and rest:
                facts = [*self._facts(topic, template["path"], reached), *self._facts(other, back, both)]
                return [topic, other], both if shared else rest, facts, {}
        return None

    def _yes_no(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        reached = sorted(self.tables.walk(topic, template["path"]) - {topic})
        kinds = [kind for kind in ("country", "language", "city") for node in reached[:1] if node.startswith(kind)]
        fit = [node for kind in kinds for node in reached if node in self.topics.of_kind({"from": kind})]
        if not fit:
            return None
        other = chance.choice(fit)
        return [topic, other], [], self._facts(topic, template["path"], [other]), {}

    def _time_bound(self, topic: str, template: dict[str, Any], chance: random.Random) -> Any:
        [relation] = template["path"]
        spans = {}
        for node in sorted(self.tables.walk(topic, template["path"])):
            years = self.years[topic, relation, node]
            # Money that came back has several spans.
            if len(years["start"]) == len(years["end"]) == 1:
                spans[node] = years["start"][0], years["end"][0]
        long = [node for node, (start, end) in spans.items() if end - start >= 4]
        if not long or len(self.tables.walk(topic, template["path"])) != len(spans):
            return None
        start, end = spans[chance.choice(long)]
        year = chance.randint(start + 1, end - 1)
        held = sorted(node for node, (first, last) in spans.items() if first <= year <= last)
        current = [
            node
            for node in self.tables.walk(topic, ["currency"])
            if min(self.years[topic, "currency", node]["start"], default=0) <= year
        ]
        if current or any(year in span for span in spans.values()):
            return None
        return [topic], held, [[topic, relation, node] for node in held], {"year": year}


def main() -> int:
    """Write the questions as JSON lines."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--graph", type=Path, required=True, help="folder that world.py wrote")
    parser.add_argument("--out", type=Path, required=True, help="file for the questions")
    parser.add_argument("--seed", type=int, default=SEED, help="draws other topics and wordings (%(default)s)")
    args = parser.parse_args()
    templates = yaml.safe_load((Path(__file__).parent / "kinds.yaml").read_text(encoding="utf-8"))["templates"]
    tables = Tables(args.graph)
    records = list(KindWriter(tables, read_templates(), templates, args.graph, args.seed).questions())
    args.out.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    partial = args.out.with_name(args.out.name + ".partial")
    partial.write_text(lines, encoding="utf-8", newline="\n")
    partial.replace(args.out)
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(record["kind"] for record in records).items())
    print(f"{args.out}: {len(records)} questions: {kinds}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
