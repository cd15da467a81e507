"""The toy driver of each role, which ``srtk new`` hands out, keeps the contract of its role."""

from __future__ import annotations

import pytest
import yaml

from srtk_framework.host.discovery import group
from srtk_framework.roles import ROLES
from srtk_framework.testing.base import kit_of


@pytest.fixture(autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write what an installer would: a distribution whose entry points are the toys."""
    folder = tmp_path_factory.mktemp("toys")
    info = folder / "srtk_kit_toys-0.1.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: srtk-kit-toys\nVersion: 0.1\n")
    lines = [f"[{group(name)}]\ntoy = {kit_of(role).__name__}:Toy{role.__name__}\n" for name, role in ROLES.items()]
    info.joinpath("entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(folder)


for _role in ROLES.values():
    _case = getattr(kit_of(_role), f"Toy{_role.__name__}Case")
    globals()[f"Test{_role.__name__}"] = type(f"Test{_role.__name__}", (_case,), {"__module__": __name__})
del _case


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_toy_has_a_summary_and_recipe_lines_that_use_it(role: str) -> None:
    kit = kit_of(ROLES[role])
    assert kit.SUMMARY[:1].isupper()
    assert not kit.SUMMARY.endswith(".")
    assert isinstance(yaml.safe_load(kit.RECIPE), dict)
    assert "use: toy" in kit.RECIPE
