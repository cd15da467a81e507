"""Small graphs with mediators, what joining them must give, and stores and Oxigraph servers made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import attrs
import pytest
from srtk_plugin_freebase.ids import FreebaseIds
from srtk_plugin_freebase.vocabulary import FREEBASE, SPACE
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.store import DATA
from srtk_plugin_views.composites import escape, join

from srtk_framework.testing import SAMPLE, Sample, served, to_ntriples
from srtk_framework.values import Literal, Qualifier, Triple

Brute = Callable[..., Sample]
Store = Callable[..., Path]

NAME, ALIAS = SPACE + "type.object.name", SPACE + "common.topic.alias"
MEDIATED = ("borders", "president", "capital", "lists", "nickname", "родился в", "twin_town")
"""Relations of the kit's sample that the tests lead through a mediator."""


def joined(
    rows: Sequence[Triple],
    labels: Mapping[str, str],
    patterns: Sequence[str] = ("m.*", "g.*"),
    unnamed: bool = True,
    to_literals: bool = True,
    unjoined: Sequence[str] = ("type.object.type",),
) -> Sample:
    """Join mediators by going through all pairs of triples: what every other way must give."""

    def is_mediator(node: str) -> bool:
        fits = not isinstance(node, Literal) and any(fnmatchcase(node, pattern) for pattern in patterns)
        return fits and not (unnamed and node in labels)

    facts = {Triple(s, escape(r), o) for s, r, o in rows if not is_mediator(s) and not is_mediator(o)}
    qualifiers: dict[Triple, set[Qualifier]] = {}
    legs = [triple for triple in rows if triple.relation not in unjoined]
    for start, first, middle in legs:
        if is_mediator(start) or not is_mediator(middle):
            continue
        said = [(r, o) for s, r, o in legs if s == middle and not is_mediator(o) and o != start]
        for second, end in said:
            if to_literals or not isinstance(end, Literal):
                fact = Triple(start, join(first, second), end)
                facts.add(fact)
                others = {(escape(r), o) for r, o in said if (r, o) != (second, end)}
                qualifiers.setdefault(fact, set()).update(others)
    entities = {end for s, _, o in facts for end in (s, o)}
    names = {r for _, r, _ in rows}
    shown = {id_: text for id_, text in labels.items() if id_ in entities or id_ in names}
    for first in sorted(names):
        for second in sorted(names):
            if first in labels or second in labels:
                shown[join(first, second)] = f"{labels.get(first, first)}: {labels.get(second, second)}"
    return Sample(
        triples=tuple(sorted(facts)),
        labels=shown,
        qualifiers={fact: tuple(sorted(pairs)) for fact, pairs in qualifiers.items() if pairs},
    )


def _entity(name: str) -> str:
    return "m.0" + name.encode().hex()


def _relation(name: str) -> str:
    return "kit.relation." + ("code" if name == "code" else "r" + name.encode().hex())


class Kit:
    """The kit's sample with ids of Freebase, some of its relations through mediators.

    Attributes:
        rows: The triples, mediators as nodes.
        labels: Of every entity, so that what has none is a mediator; of relations, and of halves of composites.
        aliases: As in the kit.
        sample: What the joined graph is.
    """

    def __init__(self) -> None:
        base = SAMPLE.renamed(_entity, _relation)
        self.aliases = base.aliases
        self.labels = {_entity(name): name for name in SAMPLE.entities}
        self.labels.update(base.labels)
        through = {_relation(name) for name in MEDIATED}
        self.rows: list[Triple] = []
        for number, triple in enumerate(base.triples):
            if triple.relation not in through or triple.subject == triple.object:
                self.rows.append(triple)
                continue
            middle = f"{'mg'[number % 2]}.1node{number}"
            self.rows += [
                Triple(triple.subject, f"{triple.relation}_s", middle),
                Triple(middle, f"{triple.relation}_to", triple.object),
                Triple(middle, "type.object.type", _entity("Museum")),
            ]
            self.rows += [Triple(middle, f"{triple.relation}_{r[-4:]}", v) for r, v in base.qualifiers.get(triple, ())]
        for name in sorted(through):
            if name in self.labels:
                self.labels[f"{name}_s"] = self.labels.pop(name)
        self.sample = attrs.evolve(joined(self.rows, self.labels), aliases=self.aliases)

    def slashed(self) -> Sample:
        """Join with ids as FB15k writes them."""

        def slash(id_: str) -> str:
            return id_ if isinstance(id_, Literal) else "/" + id_.replace(".", "/")

        rows = [Triple(*map(slash, triple)) for triple in self.rows]
        labels = {slash(id_): text for id_, text in self.labels.items()}
        sample = joined(rows, labels, ("/m/*", "/g/*"), unjoined=("/type/object/type",))
        return attrs.evolve(sample, aliases={slash(id_): names for id_, names in self.aliases.items()})


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Return the kit's sample with mediators."""
    return Kit()


@pytest.fixture(scope="session")
def brute() -> Brute:
    """Return the plain way to join."""
    return joined


@pytest.fixture(scope="session")
def make_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return what makes a store of triples with dotted ids."""
    iri = FreebaseIds(FREEBASE, slashes=False, joins=False).iri

    def make(
        rows: Sequence[Triple],
        labels: Mapping[str, str],
        aliases: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Path:
        folder = tmp_path_factory.mktemp("freebase")
        text = to_ntriples(Sample(tuple(rows), labels, aliases or {}), iri, NAME, ALIAS, language="en")
        (folder / "graph.nt").write_text(text, encoding="utf-8")
        load([folder / "graph.nt"], folder / "store")
        return folder / "store"

    return make


@pytest.fixture(scope="session")
def kit_store(kit: Kit, make_store: Store) -> Path:
    """Return a store of the kit's sample with mediators."""
    return make_store(kit.rows, kit.labels, kit.aliases)


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Return what serves a store, once in a session, and returns its URL."""
    with ExitStack() as stack:
        yield cache(lambda store: stack.enter_context(served(store / DATA)))


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of the real data sets."""
    folder = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real data sets are not here (SRTK_DATA)")
    return folder
