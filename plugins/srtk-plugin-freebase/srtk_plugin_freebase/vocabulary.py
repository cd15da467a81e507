"""Freebase's vocabulary: its namespace, names, noise, and what a mediator's id looks like."""

from __future__ import annotations

import attrs
from srtk_plugin_sparql.vocabulary import RDFS_LABEL, Vocabulary

SPACE = "http://rdf.freebase.com/ns/"
MEDIATORS = ("m.*", "g.*")
"""Ids of topics and of mediators alike (mids and guids); of these, mediators are those without a name."""

HIDDEN = ("common.*", "freebase.*", "kg.*", "type.*", "user.*")
"""Relations that tell of the database, not of the world.

Of the relations in gold paths of WebQSP and CWQ, those of ``common`` and ``freebase`` are notable types, images and
review marks, none is of ``kg`` or ``user``, and ``type`` is its schema. ``base`` stays: every ninth question of WebQSP
has a gold path through it.
"""

FREEBASE = Vocabulary(
    prefixes={"": SPACE},
    label_relations=(SPACE + "type.object.name", RDFS_LABEL),
    alias_relations=(SPACE + "common.topic.alias",),
    entities=(SPACE,),
    relations=(SPACE,),
    type_relations=("type.object.type",),
    noise=("type.object.type",),
    mediators=MEDIATORS,
)


def over_freebase(given: Vocabulary, hidden: tuple[str, ...]) -> Vocabulary:
    """Put what is set over Freebase's vocabulary; prefixes and hidden relations are added to."""
    usual = Vocabulary()
    names = [field.name for field in attrs.fields(Vocabulary)]
    changed = {name: getattr(given, name) for name in names if getattr(given, name) != getattr(usual, name)}
    changed["prefixes"] = {**FREEBASE.prefixes, **given.prefixes}
    changed["hidden"] = (*hidden, *given.hidden)
    return attrs.evolve(FREEBASE, **changed)
