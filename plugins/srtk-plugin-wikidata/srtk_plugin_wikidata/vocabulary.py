"""Wikidata's vocabulary: namespaces of a Wikibase, ids of its items and relations, labels, types and noise."""

from __future__ import annotations

import attrs
from srtk_plugin_sparql.terms import is_iri
from srtk_plugin_sparql.vocabulary import RDFS_LABEL, SKOS_ALIAS, Ids, Vocabulary

from srtk_framework.values import DriverError

WIKIDATA = "http://www.wikidata.org/"

NOISE = (
    "P301",  # category's main topic
    "P360",  # is a list of
    "P910",  # topic's main category
    "P971",  # category combines topics
    "P1151",  # topic's main Wikimedia portal
    "P1204",  # Wikimedia portal's main topic
    "P1343",  # described by source
    "P1423",  # template has topic
    "P1424",  # topic's main template
    "P1464",  # category for people born here
    "P1465",  # category for people who died here
    "P1687",  # Wikidata property
    "P1740",  # category for films shot at this location
    "P1753",  # list related to category
    "P1754",  # category related to list
    "P1791",  # category of people buried here
    "P1792",  # category of associated people
    "P1889",  # different from
    "P1963",  # properties for this type
    "P2033",  # category for pictures taken with camera
    "P2354",  # has list
    "P2517",  # category for recipients of this award
    "P2667",  # corresponding template
    "P2875",  # property usage tracking category
    "P3876",  # category for alumni of educational institution
    "P4195",  # category for employees of the organization
    "P4224",  # category contains
    "P5008",  # on focus list of Wikimedia project
    "P5125",  # Wikimedia outline
    "P5996",  # category for films in this language
    "P6104",  # maintained by WikiProject
    "P6112",  # category for members of a team
    "P6186",  # category for eponymous categories
    "P6365",  # member category
    "P7084",  # related category
    "P7561",  # category for the interior of the item
    "P7782",  # category for ship name
    "P7867",  # category for maps
    "P8464",  # content partnership category
    "P8989",  # category for the view of the item
)
"""Relations to wiki pages about an item; identifiers and files need no pattern, since they are not items."""

ANY = "mul"  # Language tag of labels for all languages


@attrs.frozen
class Spaces:
    """The namespaces of a Wikibase, below a common prefix."""

    base: str

    def __attrs_post_init__(self) -> None:
        if not is_iri(self.base) or self.base[-1] not in "/#":
            raise DriverError(f"wikibase {self.base!r} is not a prefix of IRIs; write one that ends in /")

    @property
    def entity(self) -> str:
        """Items and properties (``wd:``)."""
        return self.base + "entity/"

    @property
    def direct(self) -> str:
        """Relations from an item to a value (``wdt:``)."""
        return self.base + "prop/direct/"

    @property
    def claim(self) -> str:
        """Relations from an item to a statement (``p:``)."""
        return self.base + "prop/"

    @property
    def value(self) -> str:
        """Relations from a statement to its value (``ps:``)."""
        return self.base + "prop/statement/"

    @property
    def qualifier(self) -> str:
        """Relations from a statement to its qualifiers (``pq:``)."""
        return self.base + "prop/qualifier/"

    @property
    def genid(self) -> str:
        """Nodes of unknown values."""
        return self.base + ".well-known/genid/"


def default_vocabulary(spaces: Spaces) -> Vocabulary:
    """Return the vocabulary of a Wikibase: direct claims between items."""
    return Vocabulary(
        prefixes={"": spaces.entity, "wd": spaces.entity, "wdt": spaces.direct},
        label_relations=(RDFS_LABEL,),
        alias_relations=(SKOS_ALIAS,),
        languages=("en", ANY),
        label_namespaces={spaces.direct: spaces.entity},
        entities=(spaces.entity + "Q",),
        relations=(spaces.direct,),
        literals=False,
        type_relations=("P31",),
        subclass_relations=("P279",),
        noise=NOISE,
    )


class WikidataIds(Ids):
    """Short ids: ``Q937`` for an item, ``P106`` for a relation, ``wd:P106`` for a property as a node."""

    def __init__(self, vocabulary: Vocabulary, spaces: Spaces) -> None:
        self._entity = spaces.entity
        self._direct = spaces.direct
        super().__init__(vocabulary)

    def short(self, iri: str) -> str:
        """Shorten an IRI."""
        for namespace, prefix in ((self._direct, ""), (self._entity, "wd:")):
            if iri.startswith(namespace + "P") and ":" not in (local := iri[len(namespace) :]):
                return prefix + local
        return super().short(iri)

    def own(self, id_: str, relation: bool) -> str:
        """Return the id in the graph's spelling; a property is a relation or, as an entity, a node."""
        found = super().own(id_, relation)
        if relation and found.startswith("wd:P"):
            return found[len("wd:") :]
        return f"wd:{found}" if not relation and found[:1] == "P" and found[1:].isdigit() else found

    def iri(self, id_: str) -> str | None:
        """Return the IRI of an id, or None if no IRI has it."""
        if id_.startswith("P") and ":" not in id_:
            return self._direct + id_ if is_iri(self._direct + id_) else None
        return super().iri(id_)
