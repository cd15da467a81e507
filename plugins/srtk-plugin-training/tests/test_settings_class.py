"""The class of a driver's training settings is read from the annotation of ``fit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import pytest
from srtk_plugin_training import settings_class

if TYPE_CHECKING:
    from srtk_framework import Sample as Missing


@attrs.frozen
class Settings:
    epochs: int = 3
    names: tuple[str, ...] = ()


class Trained:
    def fit(self, task: object, training: Settings) -> Mapping[str, float]:
        return {}


class Unresolved:
    def fit(self, task: object, training: Missing) -> Mapping[str, float]:
        return {}


def test_the_class_is_that_of_the_second_argument_with_types_in_place_of_their_names():
    assert settings_class(Trained) is Settings
    assert attrs.fields(Settings).epochs.type is int
    assert attrs.fields(Settings).names.type == tuple[str, ...]


def test_a_class_that_only_type_checkers_know_is_an_error():
    with pytest.raises(NameError, match="Missing"):
        settings_class(Unresolved)
