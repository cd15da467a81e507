"""Versions that a result depends on."""

from __future__ import annotations

import sys
from importlib.metadata import version
from types import SimpleNamespace

import numpy

from srtk_framework.host.versions import __version__, libraries


def test_the_version_is_that_of_the_installed_distribution():
    assert __version__ == version("srtk-framework")


def test_only_loaded_libraries_are_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(__version__="9.8"))
    found = libraries()
    assert found["numpy"] == numpy.__version__
    assert found["tokenizers"] == "9.8"
    assert "torch" not in found


def test_a_library_without_a_version_is_named_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning", SimpleNamespace())
    assert libraries()["lightning"] == "?"
