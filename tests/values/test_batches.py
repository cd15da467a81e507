from __future__ import annotations

from srtk_framework.values import batched


def test_a_stream_is_read_no_further_than_the_batch():
    items = iter(range(5))
    batches = batched(items, 2)
    assert next(batches) == [0, 1]
    assert next(items) == 2
    assert list(batches) == [[3, 4]]
