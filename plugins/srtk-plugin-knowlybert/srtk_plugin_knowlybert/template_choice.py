"""Choice of templates: mined from texts, one of each cluster, ranked."""

from __future__ import annotations

from collections.abc import Iterable

from srtk_framework.graph import TripleTable
from srtk_framework.values import Entry
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_knowlybert.label_search import LabelSearch
from srtk_plugin_knowlybert.template_mining import distinct_templates, mine_templates
from srtk_plugin_knowlybert.template_ranking import Names, by_overlap, by_pairs
from srtk_plugin_knowlybert.templates import Template

MOST_WORDS = 15  # Most words of a sentence that becomes a template.
SIMILAR = 0.8  # Templates that are more similar than this are in one cluster.
RANKED = 100  # Templates of a relation that a ranking keeps for the next.


def chosen_templates(
    entries: Iterable[Entry],
    table: TripleTable,
    search: LabelSearch,
    names: Names,
    settings: MaskedLMFitSettings,
    seed: int,
) -> dict[str, tuple[Template, ...]]:
    """Mine the templates of each relation, keep one of each cluster, and rank them.

    Args:
        entries: Texts with mentions.
        table: The triples.
        search: Finds labels, by which templates are ranked.
        names: Names of the entities.
        settings: Settings of the training.
        seed: Of the pairs that are drawn.

    Returns:
        By relation, the kept templates, best first; relations without any are left out.
    """
    chosen = {}
    for relation, mined in mine_templates(entries, table, MOST_WORDS).items():
        some = distinct_templates(mined, SIMILAR, settings.metric)
        for number, ranker in enumerate(settings.rankers, 1):
            if ranker == "overlap":
                some = by_overlap(search, table, names, relation, some, settings.labels)
            else:
                some = by_pairs(search, table, names, relation, some, settings.pairs, seed)
            some = some[: settings.keep if number == len(settings.rankers) else RANKED]
        chosen[relation] = tuple(one.template for one in some[: settings.keep])
    return chosen
