"""An installation without lightning and torch: it searches, and says what training needs."""

import subprocess
import sys

import pytest
from srtk_plugin_sr.training_packages import require_training_packages

from srtk_framework.values import DriverError

# In a process of its own, where the two packages cannot be found.
_WITHOUT = """
import sys
from importlib.abc import MetaPathFinder
class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("lightning", "torch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Without())
"""


def test_nothing_is_asked_for_where_they_are_installed():
    require_training_packages()


@pytest.mark.parametrize("missing", [["lightning"], ["lightning", "torch"]])
def test_the_missing_packages_are_named_with_the_extra(monkeypatch, missing):
    import importlib.util

    from srtk_plugin_sr import training_packages

    real = importlib.util.find_spec
    monkeypatch.setattr(training_packages, "find_spec", lambda name: None if name in missing else real(name))
    with pytest.raises(DriverError, match="srtk-plugin-sr\\[train\\]") as caught:
        require_training_packages()
    assert " and ".join(missing) in str(caught.value)


def test_the_drivers_are_imported_without_them():
    code = _WITHOUT + "import srtk_plugin_sr.beam, srtk_plugin_sr.dense, srtk_plugin_sr.rerank\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
