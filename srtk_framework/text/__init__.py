"""Text: name folding, sentences, mentions, verbalisation of triples, and choices among numbered options."""

from __future__ import annotations

from srtk_framework.text.folding import count_tokens, fold, words
from srtk_framework.text.mentions import (
    MOST_WORDS,
    Span,
    best_apart,
    by_form,
    capitals,
    link_shares,
    link_topics,
    name_parts,
    quotes,
    tidied,
    unnamed_entities,
    without_mentions,
)
from srtk_framework.text.option_choice import FALLBACK, FIRST, RATED, REPAIRED, Choice, chosen, numbered
from srtk_framework.text.relation_forms import RelationForm, read_relation_forms, relation_words, worded
from srtk_framework.text.sentences import sentences
from srtk_framework.text.verbalise import (
    DEFAULT,
    Templates,
    clean,
    fit,
    name,
    path_text,
    step_text,
    subgraph_lines,
    subgraph_text,
    subgraph_tokens,
    triple_line,
    triple_text,
    within_tokens,
)
from srtk_framework.text.yaml_data import read_yaml

__all__ = [
    "DEFAULT",
    "FALLBACK",
    "FIRST",
    "MOST_WORDS",
    "RATED",
    "REPAIRED",
    "Choice",
    "RelationForm",
    "Span",
    "Templates",
    "best_apart",
    "by_form",
    "capitals",
    "chosen",
    "clean",
    "count_tokens",
    "fit",
    "fold",
    "link_shares",
    "link_topics",
    "name",
    "name_parts",
    "numbered",
    "path_text",
    "quotes",
    "read_relation_forms",
    "read_yaml",
    "relation_words",
    "sentences",
    "step_text",
    "subgraph_lines",
    "subgraph_text",
    "subgraph_tokens",
    "tidied",
    "triple_line",
    "triple_text",
    "unnamed_entities",
    "within_tokens",
    "without_mentions",
    "worded",
    "words",
]
