from __future__ import annotations

import sys

import pytest

from srtk_framework.host.module_source import module_file, summary_of


@pytest.fixture
def package(tmp_path, monkeypatch):
    files = {
        "far_away/__init__.py": "raise ImportError('not to be imported')\n",
        "far_away/near.py": "from .deep import Sea as Lake\nfrom far_away.deep import Sea\n",
        "far_away/deep/__init__.py": "from .sea import Sea\n",
        "far_away/deep/sea.py": 'class Sea:\n    """Swim."""\n',
        "far_away/broken.py": "class Sea(:\n",
        "far_away/circle.py": "from far_away.circle import Sea\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "target", ["far_away.near:Sea", "far_away.near:Lake", "far_away.deep:Sea", "far_away.deep.sea:Sea"]
)
def test_a_class_is_looked_up_where_its_module_takes_it_from(package, target):
    assert summary_of(target) == "Swim."
    assert not [name for name in sys.modules if name.startswith("far_away")]


@pytest.mark.parametrize(
    "target",
    ["far_away.near:Hill", "far_away.none:Sea", "no_such_package:Sea", "far_away.broken:Sea", "far_away.circle:Sea"],
)
def test_what_cannot_be_read_has_no_summary(package, target):
    assert summary_of(target) == ""


def test_a_module_without_python_source_has_no_file():
    assert module_file("sys") is None
    assert module_file("") is None
