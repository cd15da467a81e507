"""An installation without lightning and torch: it searches."""

import subprocess
import sys

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


def test_the_drivers_are_imported_without_them():
    code = _WITHOUT + "import srtk_plugin_sr.beam, srtk_plugin_sr.dense, srtk_plugin_sr.rerank\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
