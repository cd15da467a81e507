"""Names of nodes and relations without a label, made from their ids."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from srtk_framework.text import PREFIXES, displayed, fold, has_word, local_name, local_part
from srtk_plugin_local.snapshot.layout import Meta


@attrs.frozen
class IdNames:
    """Names in the ids of a graph, where nothing names them.

    Attributes:
        names: Whether the ids are names, whose underscores stand for spaces.
        prefixes: Namespaces of the graph's ids, by prefix.
        shown: Namespaces of the files of the graph, by prefix; for display only.
    """

    names: bool
    prefixes: Mapping[str, str]
    shown: Mapping[str, str] = attrs.field(factory=dict)
    _known: frozenset[str] = attrs.field(init=False)

    @_known.default
    def _all_prefixes(self) -> frozenset[str]:
        # An id of a table may have a prefix that nobody declared, such as dbr:BBC_HD.
        return frozenset((*self.prefixes, *PREFIXES))

    @classmethod
    def of(cls, meta: Meta) -> IdNames:
        """Take the settings of a snapshot."""
        return cls(meta.names, meta.schema.get("prefixes", {}), meta.build.get("prefixes", {}))

    def entity(self, id_: str) -> str:
        """Return the name in the id of an entity; the id itself where it holds none."""
        if not self.names:
            if "" in self.prefixes and ":" not in id_:
                return local_name(f":{id_}", ("",)) or id_
            return local_name(id_, self._known) or id_
        # Ids that are names are not split at capitals; a web address among them is no name, but says what it is.
        whole = "://" in id_ and displayed(id_, self.prefixes.items()) == id_
        local = "" if whole else local_part(id_, self._known)
        return (local or id_).replace("_", " ").strip() or id_

    def relation(self, id_: str) -> str:
        """Return the name in the id of a relation, else the id in its shortest form with a prefix.

        A whole IRI is shown only where it has no local part.
        """
        if self.names and "://" not in id_:
            return self.entity(id_)
        local = local_part(id_, self._known)
        if has_word(local):
            return local.replace("_", " ").strip()
        short = displayed(id_, {**self.shown, **self.prefixes}.items())
        return local if local and short == id_ else short

    def is_whole(self, id_: str) -> bool:
        """Return whether an id is one name for sure, with nothing in it that is another."""
        return ":" not in id_ and (self.names or "" not in self.prefixes)

    def indexed(self, id_: str) -> list[str]:
        """Return the folded names by which an entity without label is found: that in its id, and a short id."""
        if self.is_whole(id_):
            return [fold(id_)]
        name = fold(self.entity(id_))
        whole = fold(id_) if "://" not in id_ else name
        return [name] if whole == name else [name, whole]
