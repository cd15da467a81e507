"""The part of a process in the limits of a run."""

from __future__ import annotations

import os

import pytest

from srtk_framework.values import part_of_run, work_beside


def test_a_process_has_all_until_it_is_said_how_many_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    assert part_of_run() == 1
    work_beside(4)
    assert part_of_run() == 0.25
