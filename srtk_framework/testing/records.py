"""Checks of drivers that read records from data: ids, repeated reading, malformed records."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any

import pytest

from srtk_framework.testing.base import Answers, Conformance
from srtk_framework.testing.values import plain
from srtk_framework.values import InputError

_LINE = re.compile(r"(?::|\bline )\d+")


class RecordConformance(Conformance):
    """The checks of all roles whose method ``read`` yields records with an ``id``."""

    @pytest.fixture
    def broken(self) -> Any:
        """Return an opened driver over a file with a malformed record; None if there is none."""
        return None

    @pytest.fixture
    def answers(self) -> Answers:
        """Read all records."""
        return lambda driver: plain(list(driver.read()))

    def use(self, driver: Any) -> None:
        """Read all records."""
        list(driver.read())

    def test_ids_are_unique_texts(self, driver: Any) -> None:
        """Ids are distinct and not empty."""
        ids = [record.id for record in driver.read()]
        assert all(isinstance(id_, str) and id_ for id_ in ids), f"ids must be texts: {ids[:10]}"
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        assert not twice, f"ids come more than once: {twice[:10]}"

    def test_it_may_be_read_again_and_side_by_side(self, driver: Any) -> None:
        """Two iterators that take turns yield the same records."""
        for one, other in zip_longest(driver.read(), driver.read()):
            assert one == other, f"two readings side by side differ: {one!r} and {other!r}"

    def test_a_second_instance_answers_the_same(self, driver: Any) -> None:
        """Two drivers with equal settings read equal records."""
        with self.copy_of(driver) as copy:
            assert list(copy.read()) == list(driver.read()), "a second driver with equal settings reads otherwise"

    def test_a_malformed_record_is_an_input_error_with_its_line(self, broken: Any) -> None:
        """A malformed record raises InputError with file and line."""
        if broken is None:
            pytest.skip("no fixture `broken` gives a driver over a malformed file")
        with pytest.raises(InputError) as caught:
            list(broken.read())
        assert _LINE.search(str(caught.value)), f"the error does not name the line: {caught.value}"
