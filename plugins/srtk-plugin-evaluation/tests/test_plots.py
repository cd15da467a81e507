"""Curves and their drawings."""

from __future__ import annotations

from typing import Any

import pytest
from kit.placed import rows
from srtk_plugin_evaluation.metrics import compare
from srtk_plugin_evaluation.plots import can_plot, draw, points


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return compare({"_bfs": rows(6), "tiny": rows(1, size=2)})


def test_a_curve_has_no_points_beyond_the_size_of_its_method(report: dict[str, Any]) -> None:
    curves = points(report["at"], "answer_recall")
    assert [size for size, *_ in curves["_bfs"]] == [5.0, 8.0]
    assert [point[:2] for point in curves["tiny"]] == [(2.0, 1.0)]


@pytest.mark.parametrize("count", [1, 9, 20])
def test_any_number_of_methods_can_be_drawn(count: int) -> None:
    pytest.importorskip("matplotlib")
    many = compare({f"method {i}": rows(0, size=i) for i in range(count)})
    assert draw(many["at"], "answer_recall", "png").startswith(b"\x89PNG")
    assert b"<svg" in draw(many["at"], "answer_recall", "svg")


def estimate(mean: float, low: float, high: float) -> dict[str, float]:
    return {"mean": mean, "low": low, "high": high}


def curves_of(**methods: list[tuple[float, float]]) -> dict[str, Any]:
    """Build the part ``at`` of a report from (size, recall) at K = 5, 10 and the whole."""
    return {
        "sizes": [5, 10],
        "methods": {
            name: {
                "triples": {cut: estimate(size, size, size) for cut, (size, _) in zip(CUTS, found, strict=True)},
                "answer_recall": {
                    cut: estimate(recall, recall - 0.1, recall + 0.1)
                    for cut, (_, recall) in zip(CUTS, found, strict=True)
                },
            }
            for name, found in methods.items()
        },
    }


CUTS = ("5", "10", "all")


def test_the_points_of_a_curve_are_means_and_ends_of_intervals_by_size() -> None:
    found = points(curves_of(beam=[(5.0, 0.25), (9.5, 0.5), (40.0, 0.75)]), "answer_recall")
    assert found == {"beam": [(5.0, 0.25, 0.15, 0.35), (9.5, 0.5, 0.4, 0.6), (40.0, 0.75, 0.65, 0.85)]}


def test_a_point_without_an_interval_has_a_band_of_no_height() -> None:
    at = curves_of(beam=[(5.0, 0.25), (9.5, 0.5), (40.0, 0.75)])
    at["methods"]["beam"]["answer_recall"]["5"].update(low=None, high=None)
    assert points(at, "answer_recall")["beam"][0] == (5.0, 0.25, 0.25, 0.25)


def test_a_method_without_the_metric_has_no_curve() -> None:
    at = curves_of(beam=[(5.0, 0.25), (9.5, 0.5), (40.0, 0.75)], bfs=[(5.0, 0.1), (5.0, 0.1), (5.0, 0.1)])
    del at["methods"]["beam"]["answer_recall"]
    assert list(points(at, "answer_recall")) == ["bfs"]
    assert points(at, "triple_recall") == {}


@pytest.fixture
def at() -> dict[str, Any]:
    pytest.importorskip("matplotlib")
    return curves_of(beam=[(5.0, 0.25), (9.5, 0.5), (40.0, 0.75)], _bfs=[(0.0, 0.2), (0.0, 0.2), (0.0, 0.2)])


def test_the_settings_of_the_user_do_not_change_the_bytes(at: dict[str, Any]) -> None:
    import matplotlib

    before = draw(at, "answer_recall")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "none"}):
        assert draw(at, "answer_recall") == before
        assert matplotlib.rcParams["font.size"] == 30


def test_another_value_draws_another_picture(at: dict[str, Any]) -> None:
    moved = curves_of(beam=[(5.0, 0.25), (9.5, 0.6), (40.0, 0.75)], _bfs=[(0.0, 0.2), (0.0, 0.2), (0.0, 0.2)])
    assert draw(at, "answer_recall") != draw(moved, "answer_recall")


def test_a_name_that_starts_with_an_underscore_is_in_the_legend(at: dict[str, Any]) -> None:
    def legend(name: str) -> int:
        named = curves_of(**{name: [(5.0, 0.25), (9.5, 0.5), (40.0, 0.75)]})
        return draw(named, "answer_recall").count(b"legend")

    assert legend("_bfs") == legend("bfs") > 0


def test_a_long_name_is_shortened_to_60_characters_with_an_ellipsis(at: dict[str, Any]) -> None:
    values = [(5.0, 0.25), (9.5, 0.5), (40.0, 0.75)]
    long, longer = (draw(curves_of(**{"m" * size: values}), "answer_recall") for size in (61, 90))
    assert long == longer
    assert long != draw(curves_of(**{"m" * 60: values}), "answer_recall")


def test_without_matplotlib_nothing_can_be_plotted(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    assert can_plot()
    monkeypatch.setattr("srtk_plugin_evaluation.plots.find_spec", lambda name: None)
    assert not can_plot()
