"""Files of a snapshot are written in the memory of the build, however many rows they have."""

from __future__ import annotations

from pathlib import Path

from srtk_plugin_local.snapshot.build import build, update
from srtk_plugin_local.snapshot.build_settings import BuildSettings


def test_each_stage_says_how_much_of_it_is_done(tmp_path: Path) -> None:
    tables = {
        "files": 'a\tr\tb\nb\tr\tc\na\tr\tb\nd\ts\ta\nd\ts\t"7"^^xsd:integer\n',
        "labels": "a\tAda\nb\tBo\n",
        "aliases": "a\tAddie\nc\tCy\n",
        "qualifiers": "a\tr\tb\tq\tx\nz\tr\tb\tq\tx\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.tsv").write_text(text)
    given = {name: (str(tmp_path / f"{name}.tsv"),) for name in tables}
    said: list[tuple[str, int, int | None]] = []
    built = build(BuildSettings(**given), tmp_path / "g", progress=lambda *stage: said.append(stage))  # type: ignore[arg-type]
    ids = [("write ids", 0, 5), ("write ids", 5, 5), ("write ids", 0, None), ("write ids", 3, None)]
    assert said[said.index(("number nodes", 0, None)) :] == [
        *(("number nodes", 0, None), ("number triples", 0, None), *ids, ("index ids", 0, 5), ("index ids", 5, 5)),
        *(("sort index", 0, None), ("sort index", 5, None), ("write forward", 0, 5), ("write forward", 5, 5)),
        *(("write inverse", 0, 5), ("write inverse", 5, 5), ("write labels", 0, None), ("write labels", 0, None)),
        *(("write labels", 4, None), ("write aliases", 0, None), ("write aliases", 2, None)),
        *(
            ("index names", 0, 5),
            ("index names", 5, 5),
            ("sort index", 0, None),
            ("sort index", 6, None),
            ("sort near names", 0, None),
            ("sort near names", 16, None),
            ("write qualifiers", 0, None),
        ),
        *(("write qualifiers", 1, None), ("write qualifiers", 0, 2), ("write qualifiers", 1, 2)),
    ]
    assert built.ignored == {"qualifiers of unknown triples": 1, "repeated triples": 1}
    assert built.meta.counts == {
        "entities": 4,
        "literals": 1,
        "relations": 3,
        "triples": 4,
        "labels": 2,
        "relation_labels": 0,
        "aliases": 2,
        "names": 6,
        "qualifiers": 1,
    }
    said.clear()
    (tmp_path / "more.tsv").write_text("a\tr\td\n")
    update(built.folder, {"files": (str(tmp_path / "more.tsv"),)}, (), lambda *stage: said.append(stage))
    assert [stage for stage in said if stage[0].startswith("write f")] == [
        *(("write forward", 0, None), ("write forward", 1, None))
    ]
    assert ("index names", 0, 5) in said
