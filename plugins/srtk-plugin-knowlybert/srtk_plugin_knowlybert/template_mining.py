"""Mining of templates: sentences that name the two ends of a triple, with slots in the place of the names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs
import networkx

from srtk_framework.graph import TripleTable
from srtk_framework.text import sentences
from srtk_framework.values import EntityMention, Entry, Triple
from srtk_plugin_knowlybert.similarity import Metric, similar
from srtk_plugin_knowlybert.templates import OBJECT, SUBJECT, Template


@attrs.frozen
class Mined:
    """A template and the triples whose sentences it was made of.

    Attributes:
        template: The template.
        triples: Distinct triples, sorted.
    """

    template: Template
    triples: tuple[Triple, ...]


def mine_templates(entries: Iterable[Entry], table: TripleTable, words: int) -> dict[str, list[Mined]]:
    """Make templates of the sentences that name exactly two entities, which a triple joins.

    Args:
        entries: Texts with mentions; each is divided into its sentences.
        table: The triples.
        words: Most words of a sentence, divided at blanks.

    Returns:
        By relation, its templates in order of their texts. A sentence of a pair with several relations is a template of
        each. Sentences whose names are joined in both directions by a relation are left out: which name stands for
        which end is not known.
    """
    relations = relations_of_pairs(table)
    found: dict[str, dict[Template, set[Triple]]] = {}
    for entry in entries:
        for text, mentions in annotated_sentences(entry):
            if len(text.split()) > words or len(mentions) != 2:
                continue
            first, second = mentions
            for subject, object_ in ((first, second), (second, first)):
                for relation in relations.get((subject.entity, object_.entity), ()):
                    if subject.entity == object_.entity:
                        continue
                    if relation in relations.get((object_.entity, subject.entity), ()):
                        continue
                    template = slotted(text, subject, object_)
                    if template is not None:
                        triple = Triple(subject.entity, relation, object_.entity)
                        found.setdefault(relation, {}).setdefault(template, set()).add(triple)
    return {
        relation: [Mined(template, tuple(sorted(some))) for template, some in sorted(templates.items())]
        for relation, templates in sorted(found.items())
    }


def annotated_sentences(entry: Entry) -> Iterator[tuple[str, list[EntityMention]]]:
    """Yield the sentences of an entry, each with its mentions; a mention is never cut."""
    spans: list[tuple[int, int]] = []
    for start, end in sentences(entry.text):
        if spans and any(one.start < spans[-1][1] < one.end for one in entry.mentions):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    for start, end in spans:
        inside = [one for one in entry.mentions if start <= one.start and one.end <= end]
        yield entry.text[start:end], [EntityMention(a - start, b - start, id_) for a, b, id_ in inside]


def slotted(text: str, subject: EntityMention, object_: EntityMention) -> Template | None:
    """Put slots in the place of two mentions; None where the sentence has marks of slots by itself."""
    (a, b, first), (c, d, second) = sorted(
        [(subject.start, subject.end, SUBJECT), (object_.start, object_.end, OBJECT)]
    )
    try:
        return Template.parse(f"{text[:a]}{first}{text[b:c]}{second}{text[d:]}")
    except ValueError:
        return None


def relations_of_pairs(table: TripleTable) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the relations of each pair of subject and object."""
    found: dict[tuple[str, str], list[str]] = {}
    for subject, relation, object_ in table.named(table.triples):
        found.setdefault((subject, str(object_)), []).append(relation)
    return {pair: tuple(sorted(some)) for pair, some in found.items()}


def distinct_templates(mined: Iterable[Mined], most: float, metric: Metric) -> list[Mined]:
    """Keep a template of each cluster of similar templates.

    Templates whose similarity is greater than ``most`` are in one cluster, and so are those that a chain of such pairs
    joins (single linkage). The shortest of a cluster stands for it, of equally short ones the first by its text; it
    keeps the triples of all.
    """
    every = sorted(mined, key=lambda one: one.template)
    pairs: networkx.Graph = networkx.Graph()
    pairs.add_nodes_from(range(len(every)))
    texts = [one.template.text for one in every]
    pairs.add_edges_from(
        (i, j) for i in range(len(texts)) for j in range(i) if similar(texts[i], texts[j], most, metric)
    )
    kept = []
    for cluster in networkx.connected_components(pairs):
        some = [every[place] for place in cluster]
        best = min(some, key=lambda one: (len(one.template.text.split()), one.template))
        kept.append(Mined(best.template, tuple(sorted({triple for one in some for triple in one.triples}))))
    return sorted(kept, key=lambda one: one.template)
