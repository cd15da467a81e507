"""The folded names by which ids without a label are found."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from srtk_plugin_local.snapshot.id_names import IdNames


@pytest.mark.parametrize(
    ("names", "prefixes", "id_", "folded"),
    [
        (True, {}, "Grey_Mill", ["grey mill"]),
        (False, {}, "GreyMill", ["greymill"]),
        (False, {"": "http://ex.org/"}, "GreyMill", ["grey mill", "greymill"]),
        (True, {}, "dbr:Grey_Mill", ["grey mill", "dbr:grey mill"]),
        (False, {}, "http://ex.org/GreyMill", ["grey mill"]),
        (False, {}, "http://ex.org/Q42", ["http://ex.org/q42"]),
    ],
)
def test_an_id_is_found_by_the_name_in_it_and_in_short_form_as_it_is(
    names: bool, prefixes: Mapping[str, str], id_: str, folded: list[str]
) -> None:
    assert IdNames(names, prefixes).indexed(id_) == folded
