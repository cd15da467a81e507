"""Freebase's vocabulary: its namespace, names, noise, and the patterns of mediators."""

from __future__ import annotations

import attrs
from srtk_plugin_sparql.vocabulary import RDFS_LABEL, Vocabulary

SPACE = "http://rdf.freebase.com/ns/"
MEDIATORS = ("m.*", "g.*")  # Patterns of mids and guids, which topics and mediators share; mediators have no name

HIDDEN = ("common.*", "freebase.*", "kg.*", "type.*", "user.*")
"""Relations about the database rather than the world.

In gold paths of WebQSP and CWQ, the relations of ``common`` and ``freebase`` are notable types, images and review
marks, those of ``type`` are schema, and none is in ``kg`` or ``user``. ``base`` stays, since one of nine questions of
WebQSP has a gold path through it.
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
    """Override Freebase's vocabulary; its prefixes and hidden relations are kept."""
    prefixes = {**FREEBASE.prefixes, **given.prefixes}
    return attrs.evolve(given.over(FREEBASE), prefixes=prefixes, hidden=(*hidden, *given.hidden))
