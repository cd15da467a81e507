from __future__ import annotations

from srtk_plugin_evaluation.stage import share_of_time


def test_the_shares_of_time_add_up_the_hooks_of_each_driver() -> None:
    table = {"encoder:a.encode": {"own": 1.0}, "encoder:a.close": {"own": 1.0}, "expander:b.step": {"own": 2.0}}
    assert share_of_time(table) == {"encoder:a": 0.5, "expander:b": 0.5}
    assert share_of_time({}) == {}
