"""The conformance classes of the broken drivers, and the entry points that they need."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, TypeVar

from srtk_framework.host.discovery import group
from srtk_framework.testing.base import Conformance

D = TypeVar("D")

ENTRY_POINT = "test_the_entry_point_leads_to_the_driver"
DISTRIBUTION = "srtk_kit_broken-0.1.dist-info"


def opened(driver: D) -> D:
    """Open a driver; mark it as the first of its settings, which one fault asks for."""
    driver.open()  # type: ignore[attr-defined]
    if hasattr(driver, "__dict__"):
        driver.first = True  # type: ignore[attr-defined]
    return driver


def classes(role: str) -> dict[str, type[Conformance]]:
    """Make one test class for the good driver of a role (``TestGood``), and one for each fault."""
    module = importlib.import_module(f"{__package__}.{role}")
    base = module.Checked
    made = {"TestGood": _class(base, "TestGood", module.GOOD)}
    for number, fault in enumerate(module.FAULTS):
        made[f"TestFault{number}"] = _class(base, f"TestFault{number}", fault.driver)
    return made


def _class(base: Any, name: str, driver: type[Any]) -> type[Conformance]:
    body = {"under_test": driver, "name": driver.__name__, "__module__": "broken_drivers", "examples": 8}
    return type(name, (base,), body)


def expected(role: str) -> dict[str, str]:
    """Return the name of each test class with the check that shall fail in it."""
    faults = importlib.import_module(f"{__package__}.{role}").FAULTS
    return {f"TestFault{number}": fault.check for number, fault in enumerate(faults)}


def write_entry_points(role: str, folder: Path) -> None:
    """Write what an installer would: a distribution in ``folder`` whose entry points are the drivers of a role."""
    module = importlib.import_module(f"{__package__}.{role}")
    lines = [f"[{group(role)}]"]
    for check, driver in [("", module.GOOD), *module.FAULTS]:
        target = module.GOOD if check == ENTRY_POINT else driver
        lines.append(f"{driver.__name__} = {target.__module__}:{target.__name__}")
    info = folder / DISTRIBUTION
    info.mkdir()
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: srtk-kit-broken\nVersion: 0.1\n")
    info.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")
