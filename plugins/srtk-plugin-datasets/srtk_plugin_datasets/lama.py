"""LAMA T-REx: facts of Wikidata as labels, by relation (Petroni et al. 2019; as ParaRel has them, Elazar et al. 2021).

The ``lama`` dataset asks for the objects of half of the facts; `srtk datasets graph lama` writes the other half.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

import attrs

from srtk_framework.records import read_jsonl
from srtk_framework.records import record_fields as fields
from srtk_framework.values import InputError, Pattern, Question, Step, Triple, between, one_of, open_end
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.hidden_facts import Ends, hidden_facts, patterns_of, questions_of
from srtk_plugin_datasets.question_sets import SampledSet

HIDDEN = 0.5  # Share of the facts that is asked for, if nothing else is given.

_FOLDERS = ("pararel/trex_lms_vocab", "trex_lms_vocab", "TREx")


@attrs.define
class LAMA(SampledSet):
    """Patterns of facts of LAMA T-REx: those with the lowest hashes, a half by default.

    The files give labels and no ids. So a label is the id, without quotation marks around it and with single blanks;
    equal labels are the same entity, also across relations. `srtk datasets graph lama` writes the facts
    that the same share and seed do not ask for. The gold answers of a pattern are all that is asked for of it.

    Attributes:
        path: Folder with `relations.jsonl`. `pararel/trex_lms_vocab`, `trex_lms_vocab` or `TREx` in it has a file of
            facts for each relation, such as `P19.jsonl`. By default the folder of the set under `SRTK_DATA` or `data`.
        hidden: Share of the facts that is asked for.
        seed: Seed of the hashes, and of the sample that a limit takes.
        ends: The ends of facts that become open; LAMA asks for objects.
        candidates: Whether each pattern lists candidates to be ranked: the fillers of its open end in all facts of
            the relation, without the answers that the graph holds (typed querying; Kassner, Dufter, Schütze 2021).
    """

    path: str | None = None
    hidden: float = attrs.field(default=HIDDEN, validator=between(above=0, most=1))
    seed: int = 0
    ends: Ends = attrs.field(default="object", validator=one_of(("object", "subject", "both")))
    candidates: bool = False

    def read(self) -> Iterable[Question]:
        """Yield the patterns, sorted by their first fact."""
        facts = lama_facts(Path(located(self.path, "lama")))
        hidden = hidden_facts(facts, self.hidden, self.seed)
        asked = self._sampled(questions_of(hidden, self.ends))
        return _with_candidates(asked, facts, set(hidden)) if self.candidates else asked


def _with_candidates(asked: Iterable[Question], facts: Sequence[Triple], hidden: Set[Triple]) -> Iterator[Question]:
    """Yield the questions with the fillers of their open ends in all facts that the graph does not hold."""
    fillers: dict[Step, set[str]] = {}
    held: dict[Pattern, set[str]] = {}
    for fact in facts:
        for one, end in patterns_of(fact):
            fillers.setdefault(open_end(one)[1], set()).add(end)
            if fact not in hidden:
                held.setdefault(one, set()).add(end)
    for question in asked:
        if (pattern := question.pattern) is None:
            continue
        some = fillers[open_end(pattern)[1]] - held.get(pattern, set())
        yield attrs.evolve(question, candidates=tuple(sorted(some)))


def lama_facts(folder: Path) -> list[Triple]:
    """Return the distinct facts of all relations, sorted.

    Raises:
        InputError: With file and line, for a line without labels; for a relation that `relations.jsonl` lacks, and a
            folder without files of facts.
    """
    known = lama_relations(folder)
    places = [folder / name for name in _FOLDERS]
    files = next((found for found in (sorted(place.glob("*.jsonl")) for place in places) if found), [])
    if not files:
        raise InputError(
            f"{folder}: no file of facts such as {_FOLDERS[0]}/P19.jsonl here; name the folder of LAMA as `path`"
        )
    found: set[Triple] = set()
    for file in files:
        if file.stem not in known:
            raise InputError(f"{file}: relations.jsonl has no relation {file.stem!r}; add it there, or remove the file")
        found.update(_facts(file))
    return sorted(found)


def lama_relations(folder: Path) -> dict[str, str]:
    """Return the label of each relation of `relations.jsonl`, in its order.

    Raises:
        InputError: If the file is missing; with file and line, for a line that has no relation with a label.
    """
    file = folder / "relations.jsonl"
    if not file.is_file():
        raise InputError(f"{file}: no such file; name the folder of LAMA as `path`")
    labels = {}
    for number, record in read_jsonl(file):
        where = f"{file}:{number}"
        relation = fields.string(record.get("relation"), where, "relation")
        if relation in labels:
            raise InputError(f"{where}: relation {relation!r} is there twice; remove one of the two lines")
        labels[relation] = _id(record, "label", where)
    return labels


def _facts(file: Path) -> Iterator[Triple]:
    for number, record in read_jsonl(file):
        where = f"{file}:{number}"
        yield Triple(_id(record, "sub_label", where), file.stem, _id(record, "obj_label", where))


def _id(record: dict[str, object], field: str, where: str) -> str:
    text = " ".join(fields.string(record.get(field), where, field).split())
    # A quotation mark at the start would make a literal of it.
    found = text.strip('"').strip()
    if not found:
        raise InputError(f"{where}: field {field!r} must be a label, not {record.get(field)!r}")
    return found
