from __future__ import annotations

from srtk_framework.values import Reply, total, usage


def test_usage_counts_replies_and_sums_their_tokens_and_cost():
    replies = [Reply("a", tokens_in=10, tokens_out=2, cost=0.1), Reply("b", tokens_in=5, tokens_out=1, cost=0.2)]
    assert usage(replies) == {"calls": 2, "tokens_in": 15, "tokens_out": 3, "cost": 0.3}


def test_the_sum_of_no_usage_is_zero():
    assert total([]) == {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}


def test_missing_fields_of_a_usage_count_as_zero():
    assert total([{"calls": 2}, {"cost": 0.5}]) == {"calls": 2, "tokens_in": 0, "tokens_out": 0, "cost": 0.5}
