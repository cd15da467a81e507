"""Generations of an index: a collection for each build, and an alias for the collection to be read."""

from __future__ import annotations

import re
from typing import Any

import attrs

from srtk_framework.values import DriverError
from srtk_plugin_qdrant.store import Store

# Key of the manifest in the metadata of a collection.
MANIFEST = "srtk"


@attrs.frozen
class Generations:
    """The collections ``NAME@1``, ``NAME@2``, … of an index, with the alias ``NAME`` on the whole collection.

    Attributes:
        store: Store of the collections.
        name: Name of the index.
    """

    store: Store
    name: str

    def live(self) -> str | None:
        """Return the collection that the alias names; None where there is no alias."""
        aliases = self.store.ask("get_aliases").aliases
        return next((one.collection_name for one in aliases if one.alias_name == self.name), None)

    def all(self) -> list[str]:
        """Return the collections of all builds, oldest first."""
        own = [name for name in self._collections() if re.fullmatch(rf"{re.escape(self.name)}@\d+", name)]
        return sorted(own, key=_number)

    def is_foreign(self) -> bool:
        """Return whether a collection, and no alias, has the name of the index."""
        return self.name in self._collections()

    def _collections(self) -> list[str]:
        return [one.name for one in self.store.ask("get_collections").collections]

    def new(self) -> str:
        """Return a name for the next build."""
        return f"{self.name}@{max((_number(name) for name in self.all()), default=0) + 1}"

    def later(self, than: str | None) -> list[str]:
        """Return the collections of later builds, newest first: builds that were broken off."""
        return [name for name in reversed(self.all()) if than is None or _number(name) > _number(than)]

    def manifest(self, name: str) -> dict[str, Any]:
        """Read the manifest of a collection; empty if it has none."""
        metadata = self.store.ask("get_collection", collection_name=name).config.metadata or {}
        found = metadata.get(MANIFEST)
        return dict(found) if isinstance(found, dict) else {}

    def create(self, name: str, size: int, m: int, ef_construct: int, fields: list[str], manifest: Any) -> None:
        """Make an empty collection for vectors of a length, with an index of each field.

        Raises:
            DriverError: If the server keeps no metadata.
        """
        from qdrant_client import models

        self.store.ask(
            "create_collection",
            collection_name=name,
            # Vectors come at length 1 where cosines are wanted, so that no server changes their bytes.
            vectors_config=models.VectorParams(size=size, distance=models.Distance.DOT, on_disk=True),
            hnsw_config=models.HnswConfigDiff(m=m, ef_construct=ef_construct),
            on_disk_payload=True,
            metadata={MANIFEST: manifest},
        )
        if not self.manifest(name):
            version = self.store.ask("info").version
            self.delete(name)
            raise DriverError(
                f"the Qdrant server {self.store.name} ({version}) keeps no metadata of collections; use version 1.16 or"
                " later"
            )
        if self.store.local:
            # It reads every payload, and would warn that an index changes nothing.
            self.store.hasten(name)
        else:
            for field in fields:
                self.store.ask(
                    "create_payload_index",
                    collection_name=name,
                    field_name=field,
                    field_schema=models.PayloadSchemaType.KEYWORD,
                    wait=True,
                )

    def note(self, name: str, manifest: Any) -> None:
        """Write the manifest of a collection."""
        self.store.ask("update_collection", collection_name=name, metadata={MANIFEST: manifest})

    def publish(self, name: str) -> None:
        """Move the alias to a collection, in one step, and delete earlier collections."""
        from qdrant_client import models

        self.store.sync(name)
        create = models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=name, alias_name=self.name)
        )
        drop = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self.name))
        moved = [create] if self.live() is None else [drop, create]
        self.store.ask("update_collection_aliases", change_aliases_operations=moved)
        for other in self.all():
            if _number(other) < _number(name):
                self.delete(other)

    def delete(self, name: str) -> None:
        """Delete a collection."""
        self.store.ask("delete_collection", collection_name=name)


def _number(name: str) -> int:
    return int(name.rpartition("@")[2])
