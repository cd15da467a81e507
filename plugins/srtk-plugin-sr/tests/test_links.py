"""Linked entities as starting points, and their weights."""

from srtk_plugin_sr.beam import weighted_entities

from srtk_framework.values import Link


def test_links_of_one_span_weigh_by_their_share_of_the_scores():
    links = (Link("a", 0.6, 0, 3), Link("b", 0.2, 0, 3), Link("c", 0.1, 5, 8), Link("d"))
    assert {entity: score for entity, (score, _) in weighted_entities(links).items()} == {
        "a": -0.2877,
        "b": -1.3863,
        "c": 0.0,
        "d": 0.0,
    }


def test_an_entity_with_two_links_keeps_the_better():
    best = weighted_entities((Link("a", 0.1, 0, 3), Link("b", 0.9, 0, 3), Link("a", 0.5, 9, 12)))
    assert best["a"] == (0.0, Link("a", 0.5, 9, 12))


def test_links_that_all_score_0_have_equal_weights():
    assert {score for score, _ in weighted_entities((Link("a", 0.0, 0, 1), Link("b", 0.0, 0, 1))).values()} == {-0.6931}


def test_an_alternative_without_a_share_weighs_a_millionth():
    found = weighted_entities((Link("a", 0.0, 0, 3), Link("b", 1.0, 0, 3)))
    assert {entity: score for entity, (score, _) in found.items()} == {"a": -13.8155, "b": 0.0}
