"""Faults planted in drivers of nobody are caught, named, and cost their own item alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit import planted_faults

FAULTS = [fault for fault in planted_faults.FAULTS if fault.how != "kit"]


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{f.how}-{f.role}-{f.hook}-{f.what}" for f in FAULTS])
def test_a_planted_fault_costs_its_own_item_alone(fault, tmp_path: Path) -> None:
    outcome = planted_faults.HOW[fault.how](fault, tmp_path)
    assert planted_faults.fine(fault, outcome), outcome.said
