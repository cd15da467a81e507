"""Training queries hold each triple twice, once for each end."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_embedding.query_answers import QueryAnswers

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple

TRIPLES = st.lists(st.builds(Triple, *(st.sampled_from(names) for names in ("abcdef", "rst", "abcdef"))), min_size=1)


@given(TRIPLES)
def test_every_triple_answers_two_queries(triples):
    table = TripleTable.from_triples(triples)
    queries = QueryAnswers.of(table)
    answers, rows = queries.of_queries(np.arange(len(queries)))
    found = set()
    for answer, row in zip(answers.tolist(), rows.tolist(), strict=True):
        end, step = int(queries.ends[row]), int(queries.steps[row])
        count = len(table.relations)
        found.add((end, step, answer) if step < count else (answer, step - count, end, "inverse"))
    wanted = {tuple(row) for row in table.triples.tolist()}
    assert found == wanted | {(*row, "inverse") for row in wanted}
    assert len(answers) == 2 * len(wanted)
    assert len(set(zip(queries.ends.tolist(), queries.steps.tolist(), strict=True))) == len(queries)
