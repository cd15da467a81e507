"""Choose the topics of the demo's questions: entities whose names are unambiguous to a careful reader."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from facts import fold
from queries import Tables

LEAST_PEOPLE = {"country": 300_000, "city": 400_000}
LEAST_PEOPLE_AT_AIRPORT = 900_000


class Topics:
    """Topics of each kind, and their names in questions.

    Args:
        tables: The graph.
        wording: What ``templates.yaml`` holds.
    """

    def __init__(self, tables: Tables, wording: dict[str, Any]) -> None:
        self.tables = tables
        self.names: dict[str, list[str]] = wording["names"]
        self.articles = {f"country/{code}" for code in wording["articles"]} | {"region/caribbean"}
        self.avoid = set(wording["avoid"])
        self.owners: dict[str, set[str]] = defaultdict(set)
        for id_, label in tables.labels.items():
            for name in (label, *tables.aliases.get(id_, ())):
                self.owners[fold(name)].add(id_)
        self._kinds: dict[tuple[str, str | None], set[str]] = {}

    def of_kind(self, template: dict[str, Any]) -> set[str]:
        """Return the possible topics of a template."""
        key = template["from"], template.get("if")
        if key not in self._kinds:
            kept = {id_ for id_ in getattr(self, "_" + key[0])() if self._meets(id_, key[1])}
            self._kinds[key] = {i for i in kept if not self.avoid & {i, *self.tables.out["city_country"].get(i, ())}}
        return self._kinds[key] - set(template.get("skip", ()))

    def drawn(self, template: dict[str, Any], chance: random.Random) -> Iterator[str]:
        """Yield topics in random order, cities of many countries before more cities of one."""
        groups: dict[str, list[str]] = defaultdict(list)
        for id_ in sorted(self.of_kind(template)):
            country = next(iter(self.tables.walk(id_, ["city_country"])), id_)
            groups[country].append(id_)
        # Entities with a second common name are drawn more often.
        order = sorted(groups, key=lambda group: (chance.random() * (0.3 if group in self.names else 1), group))
        for members in groups.values():
            members.sort(key=lambda id_: (-(self.tables.number(id_, "population") or 0), id_))
        for turn in range(3):
            for group in order:
                # Well-known cities first, but not always the largest.
                members = groups[group][:4]
                if turn < len(members):
                    yield members[(turn + chance.randrange(len(members))) % len(members)]

    def surface(self, topic: str, chance: random.Random) -> str:
        """Return a name of the topic in the form used in a sentence."""
        others = self.names.get(topic)
        if others and chance.random() < 0.5:
            return chance.choice(others)
        label = self.tables.labels[topic]
        if topic.startswith("currency/"):
            # CLDR writes the names of currencies with capitals; its plural forms have the case used in a sentence.
            lower = [a for a in self.tables.aliases[topic] if fold(a) == fold(label) and a != label]
            return "the " + (lower[0] if lower else label)
        return f"the {label}" if topic in self.articles else label

    def _meets(self, id_: str, condition: str | None) -> bool:
        if condition is None:
            return True
        if condition in ("capital", "not_capital"):
            return bool(self.tables.into["capital"].get(id_)) == (condition == "capital")
        if condition == "subdivision":
            return bool(self.tables.out["city_subdivision"].get(id_))
        if condition == "only_former":
            return not self.tables.into["currency"].get(id_)
        raise ValueError(f"unknown condition {condition!r} in templates.yaml")

    def _people(self, id_: str) -> float:
        return self.tables.number(id_, "population") or 0

    def _plain(self, id_: str) -> bool:
        label = self.tables.labels[id_]
        return label.replace("’", "").replace("'", "").replace("-", "").replace(" ", "").isalpha() and len(label) < 45

    def _only(self, id_: str) -> bool:
        """Check whether a name belongs to only one entity."""
        return self.owners[fold(self.tables.labels[id_])] == {id_}

    def _country(self) -> set[str]:
        return {id_ for id_ in self.tables.out["capital"] if self._people(id_) >= LEAST_PEOPLE["country"]}

    def _city(self) -> set[str]:
        return {
            id_
            for id_, countries in self.tables.out["city_country"].items()
            if self._people(id_) >= LEAST_PEOPLE["city"] and self._plain(id_) and self._best_known(id_, countries[0])
        }

    def _best_known(self, id_: str, country: str) -> bool:
        """Check whether a city's name is unambiguous to most readers; the province around it may share the name."""
        for other in self.owners[fold(self.tables.labels[id_])] - {id_}:
            province = country in self.tables.walk(other, ["subdivision_country"])
            smaller = other.startswith("city/") and self._people(other) * 10 <= self._people(id_)
            if not province and not smaller:
                return False
        return True

    def _language(self) -> set[str]:
        return {id_ for id_ in self.tables.into["official_language"] if self._plain(id_) and self._only(id_)}

    def _currency(self) -> set[str]:
        used = self.tables.into["currency"].keys() | self.tables.into["former_currency"].keys()
        return {id_ for id_ in used if self._plain(id_)}

    def _state(self) -> set[str]:
        states = self.tables.into["subdivision_country"]["country/US"]
        wanted = [id_ for id_ in states if "division/state" in self.tables.out["subdivision_type"][id_]]
        return {id_ for id_ in wanted if not self._namesakes(id_)}

    def _namesakes(self, id_: str) -> set[str]:
        label = fold(self.tables.labels[id_])
        return {o for o in self.owners[label] | self.owners[label + " city"] if o != id_ and self._people(o) > 300_000}

    def _county(self) -> set[str]:
        large = {s for s in self._state() if len(self.tables.into["city_subdivision"].get(s, ())) >= 10}
        return {
            id_
            for state in large
            for id_ in self.tables.into["county_state"].get(state, ())
            if self._only(id_) and self._plain(id_)
        }

    def _airport(self) -> set[str]:
        return {
            id_
            for id_, cities in self.tables.out["airport_city"].items()
            if self._people(cities[0]) >= LEAST_PEOPLE_AT_AIRPORT
            and self.tables.labels[id_].endswith("International Airport")
            and self._plain(id_)
            and self._only(id_)
        }

    def _region(self) -> set[str]:
        return {id_ for id_ in self.tables.into["region"] if id_.startswith("region/")}

    def _time(self) -> set[str]:
        return {
            id_
            for id_ in self.tables.into["standard_time"]
            if self._plain(id_) and len(self.tables.walk(id_, ["^standard_time", "zone_country"])) >= 3
        }
