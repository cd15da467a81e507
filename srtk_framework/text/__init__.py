"""Text: name folding, sentences, mentions and verbalisation of triples."""

from __future__ import annotations

from srtk_framework.text.answers import answer_line, answer_notes, lacking, refusal_line
from srtk_framework.text.folding import count_tokens, fold, words
from srtk_framework.text.id_spellings import DBPEDIA_PAGES, NAMESPACES, decoded, iri_of, own_spellings, spellings
from srtk_framework.text.local_names import (
    ALIAS_RELATIONS,
    LABEL_RELATIONS,
    LITERAL_FORM,
    PREFIXES,
    displayed,
    has_word,
    local_name,
    local_part,
    spaced,
)
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
from srtk_framework.text.relation_forms import read_relation_forms, relation_words, worded
from srtk_framework.text.sentences import sentences
from srtk_framework.text.verbalise import (
    DEFAULT,
    Templates,
    clean,
    fit,
    name,
    path_text,
    step_text,
    subgraph_tokens,
    triple_line,
    triple_text,
)
from srtk_framework.text.yaml_data import read_yaml

__all__ = [
    "ALIAS_RELATIONS",
    "DBPEDIA_PAGES",
    "DEFAULT",
    "LABEL_RELATIONS",
    "LITERAL_FORM",
    "MOST_WORDS",
    "NAMESPACES",
    "PREFIXES",
    "Span",
    "Templates",
    "answer_line",
    "answer_notes",
    "best_apart",
    "by_form",
    "capitals",
    "clean",
    "count_tokens",
    "decoded",
    "displayed",
    "fit",
    "fold",
    "has_word",
    "iri_of",
    "lacking",
    "link_shares",
    "link_topics",
    "local_name",
    "local_part",
    "name",
    "name_parts",
    "own_spellings",
    "path_text",
    "quotes",
    "read_relation_forms",
    "read_yaml",
    "refusal_line",
    "relation_words",
    "sentences",
    "spaced",
    "spellings",
    "step_text",
    "subgraph_tokens",
    "tidied",
    "triple_line",
    "triple_text",
    "unnamed_entities",
    "without_mentions",
    "worded",
    "words",
]
