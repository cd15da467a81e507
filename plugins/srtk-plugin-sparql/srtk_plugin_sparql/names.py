"""Names of nodes: labels with a fallback of languages, and the nodes that have a name."""

from __future__ import annotations

import functools
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from srtk_plugin_web import RequestError

from srtk_framework.text import fold
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.terms import Rows, Term

_MOST_TAGS = 8  # Languages in which a name is looked up, besides the usual ones: each makes the queries longer

_MOST_SPACES = 8  # Namespaces in which a node is looked for by what its IRI ends in

_log = logging.getLogger(__name__)


class _Usage(NamedTuple):
    """Use of names in a graph, the best label relations first.

    There are no tags where names are so few that all are looked at.
    """

    tags: Sequence[str]
    labels: Sequence[str]
    names: Sequence[str]


class Names:
    """Labels and names, each read once.

    With ``scan``, the first lookup reads all names of the graph, and only nodes with triples have labels. Without
    languages, all are read, English first. The languages in use are found by ``sample`` names of each relation; with
    0, only the given languages are asked for.
    """

    def __init__(
        self, reader: StepReader, languages: Sequence[str], scan: bool, sample: int = 0, narrows: bool = True
    ) -> None:
        self._reader = reader
        self._ids = reader.ids
        self._languages = languages
        self._scan = scan
        self._sample = sample
        self._narrows = narrows
        self._usage: _Usage | None = None
        self._spaces: Sequence[str] | None = None
        self._local: dict[str, frozenset[str]] = {}
        self._labels: dict[str, str] = {}
        self._index: dict[str, list[str]] | None = None

    def labels(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the label of each id, or an empty text."""
        every = list(dict.fromkeys(ids))
        self._read_labels(self._sources(id_) for id_ in every)
        return {id_: self._labels.get(self._sources(id_), "") for id_ in every}

    def _sources(self, id_: str) -> str:
        """Return the IRI whose label names an id, or an empty text."""
        iri = self._ids.iri(id_)
        return "" if iri is None else self._ids.label_source(iri)

    def _read_labels(self, iris: Iterable[str]) -> None:
        missing = [iri for iri in dict.fromkeys(iris) if iri and iri not in self._labels]
        if not missing or not self._ids.named[0]:
            return
        ranked = self._used().labels if self._sample else ()
        if self._sample and not ranked:
            self._labels.update(dict.fromkeys(missing, ""))
            return
        ask = functools.partial(self._reader.queries.labels, relations=ranked, used=self._scan)
        rows = self._reader.ask_all(missing, ask, "?n ?l")
        places = {relation: place for place, relation in enumerate(ranked)}
        best = self._best((row["n"].value, row["l"], places[row["r"].value] if "r" in row else 0) for row in rows)
        self._labels.update({iri: best.get(iri, "") for iri in missing})

    def _best(self, rows: Iterable[tuple[str, Term, int]]) -> dict[str, str]:
        """Choose the label of each IRI: by the place of its relation, by language, then by the smallest text."""
        best: dict[str, tuple[int, tuple[str, str]]] = {}
        for iri, term, place in rows:
            found = self._ranked(term)
            if found is not None and (iri not in best or (place, found) < best[iri]):
                best[iri] = place, found
        return {iri: name for iri, (_, (_, name)) in best.items()}

    def _ranked(self, term: Term) -> tuple[str, str] | None:
        """Return a key and a name, or None for a name in another language or without letters."""
        name = (term.value if term.kind == "literal" else self._ids.short(term.value)).strip(" ")
        language = term.language.lower()
        rank = _rank(language, self._languages)
        return (f"{rank:04d}{language} {name}", name) if name and rank >= 0 else None

    def find(self, names: Sequence[str], alone: bool = False) -> list[list[str]]:
        """Find the entities that have each name.

        With ``alone``, named nodes without any triple are found too, where names are not all read at once.
        """
        folded = [fold(name) for name in names]
        if self._scan:
            if self._index is None:
                self._index = self._read_index()
            return [list(self._index.get(name, ())) if name else [] for name in folded]
        found = self._find_exact(list(dict.fromkeys(names)), alone)
        return [sorted(found.get(name, ())) if name else [] for name in folded]

    def _read_index(self) -> dict[str, list[str]]:
        reader, queries = self._reader, self._reader.queries
        nodes = {row["n"].value for row in reader.whole(queries.all_nodes(), "?n")}
        rows = reader.whole(queries.all_names(), "?n ?r ?l") if any(self._ids.named) else []
        return self._indexed(nodes, rows)

    def _indexed(self, nodes: set[str], rows: Rows) -> dict[str, list[str]]:
        labelled = set()
        index: dict[str, set[str]] = {}
        for row in rows:
            iri = row["n"].value
            found = self._ranked(row["l"])
            if iri in nodes and found is not None:
                index.setdefault(fold(found[1]), set()).add(self._ids.short(iri))
                if row["r"].value in self._ids.named[0]:
                    labelled.add(iri)
        local: dict[str, set[str]] = {}
        for iri in nodes - labelled:
            id_ = self._ids.short(iri)
            index.setdefault(fold(id_), set()).add(id_)
            local.setdefault(fold(self._ids.local_name(id_)), set()).add(id_)
        # What an IRI ends in is a last resort, for a text that is no one's name.
        index.update({name: found for name, found in local.items() if name not in index})
        index.pop("", None)
        return {name: sorted(ids) for name, ids in index.items()}

    def _find_exact(self, names: Collection[str], alone: bool) -> dict[str, set[str]]:
        """Look for names as they are written, and in the usual cases."""
        written: set[str] = set()
        ids: set[str] = set()
        for name in names:
            forms = _forms(name)
            ids.update(forms)
            written.update(form for form in forms if _is_whole(form))
        rows = self._called(written) if any(self._ids.named) and written else []
        found: dict[str, set[str]] = {}
        for row in rows:
            ranked = self._ranked(row["l"])
            if ranked is not None:
                found.setdefault(fold(ranked[1]), set()).add(self._ids.short(row["n"].value))
        ids = {id_ for id_ in ids if self._ids.iri(id_) is not None}
        called = {id_ for hits in found.values() for id_ in hits}
        known = self._reader.are_there(sorted({*ids, *called, *self._local_ids(names)}))
        labels = self.labels(sorted(ids & known))
        for id_, label in labels.items():
            if not label:
                found.setdefault(fold(id_), set()).add(id_)
        named = {name: hits & (known | called if alone else known) for name, hits in found.items()}
        lacking = [name for name in names if not named.get(fold(name))]
        # Nodes without a label are found by what their IRIs end in.
        for id_, label in self.labels(sorted(self._local_ids(lacking) & known)).items():
            if not label:
                named.setdefault(fold(self._ids.local_name(id_)), set()).add(id_)
        return named

    def _local_ids(self, names: Iterable[str]) -> set[str]:
        """Return the ids whose IRIs end in names, in the usual namespaces of a graph with few labels."""
        if not self._sample or self._used().tags:
            return set()
        if self._spaces is None:
            self._spaces = self._read_spaces()
        found: set[str] = set()
        for name in names:
            if len(self._local) >= terms.KEPT:
                self._local = {}
            local = self._local
            if name not in local:
                local[name] = self._ids_ending_in(name, self._spaces)
            found |= local[name]
        return found

    def _ids_ending_in(self, name: str, spaces: Sequence[str]) -> frozenset[str]:
        iris = (space + form for form in _local_forms(name) for space in spaces)
        ids = {self._ids.short(iri) for iri in iris if terms.is_iri(iri)}
        return frozenset(id_ for id_ in ids if fold(self._ids.local_name(id_)) == fold(name))

    def _read_spaces(self) -> list[str]:
        """Return the most frequent namespaces of a sample of nodes."""
        try:
            rows = self._reader.single(self._reader.queries.subjects(self._sample))
        except RequestError as error:
            _log.warning("the namespaces of nodes are not known (%s); they are found by names alone", error)
            return []
        starts = (re.match(r"(.*[/#])[^/#]+$", row["n"].value) for row in rows if "n" in row)
        counts = Counter(found[1] for found in starts if found is not None)
        return [space for space, _ in counts.most_common(_MOST_SPACES)]

    def _called(self, forms: Iterable[str]) -> Rows:
        """Ask for the nodes that have a name of some form, in the languages in use."""
        queries, used = self._reader.queries, self._used()
        if self._sample and not used.names:
            return []
        if not used.tags:
            ask = functools.partial(queries.called_in_any_language, relations=used.names)
            return self._reader.ask_all(sorted(forms), ask, "?n ?l")
        written = {terms.text(form, language) for form in forms for language in used.tags}
        return self._reader.ask_all(sorted(written), functools.partial(queries.called, relations=used.names), "?n ?l")

    def _used(self) -> _Usage:
        """Return which relations and languages the names of the graph have, read once."""
        if self._usage is None:
            self._usage = self._read_usage()
        return self._usage

    def _read_usage(self) -> _Usage:
        """Sample the names of the graph.

        A literal is found by its text and tag alone, so that an exact look-up must name the tags.
        """
        labels, aliases = self._ids.named
        usual = ["", *(self._languages or ("en",))]
        if not self._sample or not (labels or aliases):
            return _Usage(usual, labels, (*labels, *aliases))
        try:
            rows = self._reader.single(self._reader.queries.languages(self._sample))
            counts: dict[int, Counter[str]] = {}
            for row in rows:
                if "k" in row:
                    counts.setdefault(row.number("k"), Counter())[row["g"].value] += row.number("c")
        except RequestError as error:
            _log.warning("the languages of names are not known (%s); names are looked up in %s", error, usual[1:])
            return _Usage(usual, labels, (*labels, *aliases))
        names = [name for place, name in enumerate((*labels, *aliases)) if counts.get(place)]
        if self._narrows and self._reader.walks_relations():
            self._reader.queries.narrow(names)
        used = _Usage([], [name for name in names if name in labels], names)
        if all(some.total() < self._sample for some in counts.values()):
            return used
        every: Counter[str] = sum(counts.values(), Counter())
        found = [tag for tag, _ in every.most_common() if terms.is_language(tag) and self._is_wanted(tag)]
        return used._replace(tags=list(dict.fromkeys([*usual, *found[:_MOST_TAGS]])))

    def _is_wanted(self, tag: str) -> bool:
        return _rank(tag.lower(), self._languages) >= 0


@functools.lru_cache(maxsize=terms.KEPT)
def _forms(name: str) -> frozenset[str]:
    plain = " ".join(name.replace("_", " ").split())
    first = plain[:1].upper() + plain[1:]
    cases = (name, plain, first, plain.lower(), plain.title(), plain.upper())
    return frozenset(form for form in (*cases, plain.replace(" ", "_"), first.replace(" ", "_")) if form)


def _local_forms(name: str) -> set[str]:
    """Return the usual spellings of a name as the local part of an IRI."""
    parts = name.replace("_", " ").replace("-", " ").split()
    capital = [part[:1].upper() + part[1:] for part in parts]
    forms = {joint.join(some) for joint in ("", "_", "-") for some in (parts, capital)}
    forms |= {joint.join(parts).lower() for joint in ("", "_", "-")}
    camel = "".join(capital)
    return {form for form in (*forms, camel[:1].lower() + camel[1:]) if form}


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _rank(language: str, languages: Sequence[str]) -> int:
    """Rank a language: 0 for the most wanted, -1 for an unwanted language; the rule of snapshots."""
    wanted = [name.lower() for name in languages] or ["en"]
    for place, name in enumerate(wanted):
        if language == name:
            return 2 * place
        if language.startswith(name + "-"):
            return 2 * place + 1
    last = 2 * len(wanted)
    if not language:
        return last
    return -1 if languages else last + 1
