"""Builds a graph of Wikidata entities with labels, aliases, descriptions and facts, for benchmarks of linkers.

    python -m benchmarks.linking.linking_graph

Names come from wiki27k, CoDEx (types) and the Wikidata ids of FB15k-237; facts from all three; nothing comes from the
annotated texts that linkers are scored on. Writes build/bench/linking/graph.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import attrs

from benchmarks.common import DATA, OUT, lacking, shown, srtk

FOLDER = OUT / "linking"
GRAPH = FOLDER / "graph"
NEEDED = (
    "wiki27k/entity2label.txt",
    "codex/types/entity2types.json",
    "fb15k237/entity2wikidata.json.gz",
)
TYPE, ABOUT = "P31", "description"


@attrs.define
class Names:
    """Names of entities from all sources; the first label is kept, later labels become aliases."""

    labels: dict[str, str] = attrs.field(factory=dict)
    aliases: dict[str, dict[str, None]] = attrs.field(factory=dict)
    about: dict[str, str] = attrs.field(factory=dict)

    def add(self, id_: str, label: str, about: str = "", aliases: tuple[str, ...] = ()) -> None:
        """Add the names of an entity from one source."""
        clean = [" ".join(name.split()) for name in (label, *aliases)]
        for name in filter(None, clean):
            if self.labels.setdefault(id_, name) != name:
                self.aliases.setdefault(id_, {})[name] = None
        if about.strip():
            self.about.setdefault(id_, " ".join(about.split()))


def names() -> tuple[Names, dict[str, str]]:
    """Read the names of all sources; also return the Wikidata id of each id of Freebase."""
    found, ids = Names(), {}
    about = dict(_columns("wiki27k/entity2definition.txt"))
    for id_, label in _columns("wiki27k/entity2label.txt"):
        found.add(id_, label, about.get(id_, ""))
    for id_, entry in _json("codex/types/en/types.json").items():
        found.add(id_, entry["label"], entry["description"], _title(entry["wiki"]))
    with gzip.open(DATA / "fb15k237/entity2wikidata.json.gz", "rt", encoding="utf-8") as lines:
        freebase = json.load(lines)
    for mid, entry in freebase.items():
        if id_ := entry.get("wikidata_id"):
            ids[mid] = id_
            more = (*(entry.get("alternatives") or ()), *_title(entry.get("wikipedia") or ""))
            found.add(id_, entry.get("label") or "", entry.get("description") or "", more)
    return found, ids


def facts(ids: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the triples of all sources with Wikidata ids."""
    for name in ("wiki27k/train", "wiki27k/valid", "wiki27k/test", "codex/codex-m/train", "codex/codex-m/valid",
                 "codex/codex-m/test", "fb15k237/train", "fb15k237/valid", "fb15k237/test"):  # fmt: skip
        for line in (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            subject, relation, object_ = line.split("\t")
            subject, object_ = ids.get(subject, subject), ids.get(object_, object_)
            if not (subject.startswith("/") or object_.startswith("/")):
                yield subject, relation, object_
    for id_, types in _json("codex/types/entity2types.json").items():
        for type_ in types:
            yield id_, TYPE, type_


def relations() -> Iterator[tuple[str, str]]:
    """Yield the relations with their labels; those of Freebase by the last part of their names."""
    seen = {}
    for id_, label in _json("wiki27k/relation2label.json").items():
        seen[id_] = label
    for id_, entry in _json("codex/relations/en/relations.json").items():
        seen.setdefault(id_, entry["label"])
    for id_, _ in _columns("fb15k237/relation2text.txt"):
        seen[id_] = id_.split("/")[-1].replace("_", " ")
    yield from seen.items()


def write() -> list[str]:
    """Write the input files of the snapshot; return the arguments of `srtk graph build`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    found, ids = names()
    known = set(found.about)
    with (FOLDER / "triples.tsv").open("w", encoding="utf-8") as out:
        for triple in facts(ids):
            known.update((triple[0], triple[2]))
            out.write("\t".join(triple) + "\n")
        rest = ((id_, label) for id_, label in found.labels.items() if id_ not in known)  # a name needs a triple
        for id_, text in [*found.about.items(), *rest]:
            plain = text.replace("\\", "").replace('"', "'")
            out.write(f'{id_}\t{ABOUT}\t"{plain}"@en\n')
    _rows(FOLDER / "labels.tsv", [*found.labels.items(), *relations()])
    _rows(FOLDER / "aliases.tsv", [(id_, name) for id_, some in found.aliases.items() for name in some])
    return [
        "graph", "build", "--out", str(GRAPH), "--labels", str(FOLDER / "labels.tsv"), "--aliases",
        str(FOLDER / "aliases.tsv"), "--type-relation", TYPE, "--no-names", "--quiet", "--force",
        str(FOLDER / "triples.tsv"),
    ]  # fmt: skip


def build() -> Path:
    """Build the snapshot unless it exists.

    Raises:
        SystemExit: If data is missing, or the build fails.
    """
    if not GRAPH.exists():
        if missing := lacking(*NEEDED):
            raise SystemExit(missing)
        _, failed = srtk(*write())
        if failed:
            raise SystemExit(f"the graph cannot be built: {failed}")
    return GRAPH


def _json(name: str) -> dict[str, dict[str, str]]:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def _columns(name: str) -> Iterator[tuple[str, str]]:
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        id_, text = line.split("\t", 1)
        yield id_, text


def _title(address: str) -> tuple[str, ...]:
    """Return the title of a Wikipedia page as a name."""
    return (unquote(address.rsplit("/wiki/", 1)[1]).replace("_", " "),) if "/wiki/" in address else ()


def _rows(file: Path, rows: list[tuple[str, str]]) -> None:
    file.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")


if __name__ == "__main__":
    print(shown(build()))
