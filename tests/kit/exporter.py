"""Exporters that each break one rule of Exporter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from kit.checked import opened
from kit.rules import Fault, changed, publish, replaced
from srtk_framework.testing.exporter import HEAD, ExporterConformance, ToyExporter

GOOD = ToyExporter


class Checked(ExporterConformance):
    """Tests one of the exporters."""

    under_test: ClassVar[type[ToyExporter]] = GOOD

    @pytest.fixture
    def driver(self, path: Path) -> ToyExporter:
        """Open it."""
        return opened(self.under_test(path=str(path)))


def _early(self: Any, call: Any) -> None:
    call()
    if not Path(self.path).exists():
        Path(self.path).touch()
        self.touched = True


def _early_dropped(self: Any, call: Any) -> None:
    call()
    if vars(self).pop("touched", False) and self._failed:
        Path(self.path).unlink()


def _aside(self: Any, call: Any) -> None:
    call()
    self.old = Path(self.path).read_text() if Path(self.path).exists() else None
    Path(self.path).unlink(missing_ok=True)


def _aside_back(self: Any, call: Any) -> bool:
    if self.old is not None:
        Path(self.path).write_text(self.old)
    return bool(call())


def _keeps_part(self: Any, call: Any) -> None:
    call()
    if self._failed:
        self._part().touch()


def _removes_empty(self: Any, call: Any) -> None:
    call()
    if Path(self.path).exists() and Path(self.path).read_text() == ",".join(HEAD) + "\n":
        Path(self.path).unlink()


def _first_last(self: Any, call: Any) -> None:
    call()
    if Path(self.path).exists():
        head, *lines = Path(self.path).read_text().splitlines(keepends=True)
        Path(self.path).write_text("".join([head, *lines[2:], *lines[:2]]))


def _numbers_batches(self: Any, call: Any, retrievals: Any) -> Any:
    count = call(retrievals)
    self._file.write("\n" if len(retrievals) == 1 else "")
    return count


def _names_instance(self: Any, call: Any, retrievals: Any) -> Any:
    if len(retrievals) > 1:
        self._file.write("first\n" if vars(self).get("first") else "")
    return call(retrievals)


def _takes(self: Any, call: Any, retrievals: Any) -> Any:
    count = call(retrievals)
    if isinstance(retrievals, list):
        retrievals.sort(key=lambda retrieval: retrieval.question.id)
    return count


def _refuses(refused: Any) -> Any:
    def method(self: Any, call: Any, retrievals: Any) -> Any:
        if any(refused(retrieval) for retrieval in retrievals):
            raise ValueError("this is not written")
        return call(retrievals)

    return method


def _drops_failed(self: Any, call: Any, retrievals: Any) -> Any:
    call([one for one in retrievals if one.error is None])
    return len(retrievals)


def _needs_folder(self: Any) -> None:
    self._file = self._part().open("w", encoding="utf-8")


def _starts_once(self: Any, call: Any) -> None:
    call()
    if vars(self).get("was_open"):
        self._file.write("again\n")
    self.was_open = True


def _hash_signs(self: Any, call: Any) -> None:
    call()
    self._file.write(f"{hash('retrievals')}\n")


FAULTS: list[Fault] = [
    changed(GOOD, "test_a_closed_driver_can_be_opened_again", open=_starts_once),
    changed(GOOD, "test_another_process_gets_the_same_answers", open=_hash_signs),
    changed(GOOD, "test_the_target_appears_only_after_close", open=_early, close=_early_dropped),
    changed(GOOD, "test_what_stood_there_stays_until_close", open=_aside, abort=_aside_back),
    replaced(GOOD, "test_abort_leaves_the_old_file", abort=lambda self: True),
    changed(GOOD, "test_nothing_else_is_left_in_the_folder", close=_keeps_part),
    changed(GOOD, "test_an_empty_run_writes_a_valid_file", close=_removes_empty),
    changed(
        GOOD, "test_write_returns_how_many_were_written", write=lambda self, call, retrievals: call(retrievals) or 1
    ),
    changed(GOOD, "test_the_order_of_retrievals_is_kept", close=_first_last),
    changed(GOOD, "test_several_writes_equal_one", write=_numbers_batches),
    changed(GOOD, "test_the_same_retrievals_give_the_same_bytes", write=_names_instance),
    changed(GOOD, "test_the_list_that_was_given_is_untouched", write=_takes),
    changed(GOOD, "test_strange_labels_are_written", write=_refuses(lambda r: '"' in r.question.text)),
    changed(GOOD, "test_a_failed_question_is_written_too", write=_refuses(lambda r: r.question.id == "q-failed")),
    changed(GOOD, "test_no_question_is_dropped", write=_drops_failed),
    replaced(GOOD, "test_a_missing_folder_is_made_or_named", open=_needs_folder),
]
publish(__name__, globals(), FAULTS)
