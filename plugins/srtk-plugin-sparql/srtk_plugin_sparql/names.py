"""Names of nodes: labels with a fallback of languages, and the nodes that have a name."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from srtk_framework.text import fold
from srtk_framework.web import RequestError
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.terms import Rows, Term

_MOST_TAGS = 8
"""Languages in which a name is looked up, besides the usual ones: each makes the queries longer."""

_log = logging.getLogger(__name__)


class Names:
    """Labels and names, each read once.

    Args:
        reader: Asks the queries.
        languages: Most wanted first; all when empty, English first.
        scan: Whether all names of the graph are read when the first is looked for.
        sample: Names of each relation by which the languages in use are found; 0 to ask for ``languages`` alone.
    """

    def __init__(self, reader: StepReader, languages: Sequence[str], scan: bool, sample: int = 0) -> None:
        self._reader = reader
        self._ids = reader.ids
        self._languages = languages
        self._scan = scan
        self._sample = sample
        self._tags: Sequence[str] | None = None
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
        rows = self._reader.ask_all(missing, self._reader.queries.labels, "?n ?l")
        best = self._best((row["n"].value, row["l"]) for row in rows)
        self._labels.update({iri: best.get(iri, "") for iri in missing})

    def _best(self, rows: Iterable[tuple[str, Term]]) -> dict[str, str]:
        """Choose the label of each IRI: by language, then by the smallest text."""
        best: dict[str, tuple[str, str]] = {}
        for iri, term in rows:
            found = self._ranked(term)
            if found is not None and (iri not in best or found < best[iri]):
                best[iri] = found
        return {iri: name for iri, (_, name) in best.items()}

    def _ranked(self, term: Term) -> tuple[str, str] | None:
        """Return a key and a name, or None for a name in another language or without letters."""
        name = (term.value if term.kind == "literal" else self._ids.short(term.value)).strip(" ")
        language = term.language.lower()
        rank = _rank(language, self._languages)
        return (f"{rank:04d}{language} {name}", name) if name and rank >= 0 else None

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the entities that have each name."""
        folded = [fold(name) for name in names]
        if self._scan:
            if self._index is None:
                self._index = self._read_index()
            return [list(self._index.get(name, ())) if name else [] for name in folded]
        found = self._find_exact(dict.fromkeys(names))
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
        for iri in nodes - labelled:
            id_ = self._ids.short(iri)
            index.setdefault(fold(id_), set()).add(id_)
        index.pop("", None)
        return {name: sorted(ids) for name, ids in index.items()}

    def _find_exact(self, names: Iterable[str]) -> dict[str, set[str]]:
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
        known = self._reader.exist(sorted({*ids, *(id_ for hits in found.values() for id_ in hits)}))
        labels = self.labels(sorted(ids & known))
        for id_, label in labels.items():
            if not label:
                found.setdefault(fold(id_), set()).add(id_)
        return {name: hits & known for name, hits in found.items()}

    def _called(self, forms: Iterable[str]) -> Rows:
        """Ask for the nodes that have a name of some form, in the languages in use."""
        queries = self._reader.queries
        if self._tags is None:
            self._tags = self._read_tags()
        if not self._tags:
            return self._reader.ask_all(sorted(forms), queries.called_in_any_language, "?n ?l")
        written = {terms.text(form, language) for form in forms for language in self._tags}
        return self._reader.ask_all(sorted(written), queries.called, "?n ?l")

    def _read_tags(self) -> Sequence[str]:
        """Return the language tags of names, most wanted first; none where there are so few names that all are read.

        A literal is found by its text and tag alone, so that an exact look-up must name the tags.
        """
        usual = ["", *(self._languages or ("en",))]
        if not self._sample:
            return usual
        try:
            rows = self._reader.single(self._reader.queries.languages(self._sample))
            counts: dict[str, Counter[str]] = {}
            for row in rows:
                if "k" in row:
                    counts.setdefault(row["k"].value, Counter())[row["g"].value] += row.number("c")
        except RequestError as error:
            _log.warning("the languages of names are not known (%s); names are looked up in %s", error, usual[1:])
            return usual
        if all(some.total() < self._sample for some in counts.values()):
            return ()
        every: Counter[str] = sum(counts.values(), Counter())
        found = [tag for tag, _ in every.most_common() if terms.is_language(tag) and self._is_wanted(tag)]
        return list(dict.fromkeys([*usual, *found[:_MOST_TAGS]]))

    def _is_wanted(self, tag: str) -> bool:
        return _rank(tag.lower(), self._languages) >= 0


def _forms(name: str) -> set[str]:
    plain = " ".join(name.replace("_", " ").split())
    first = plain[:1].upper() + plain[1:]
    return {form for form in (name, plain, first, plain.lower(), plain.title(), plain.upper()) if form} | {
        form.replace(" ", "_") for form in (plain, first) if form
    }


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _rank(language: str, languages: Sequence[str]) -> int:
    """Rank a language: 0 for the most wanted, -1 for one that is not wanted; the rule of snapshots."""
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
