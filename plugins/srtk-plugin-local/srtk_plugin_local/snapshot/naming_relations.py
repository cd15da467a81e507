"""Relations that look as if they named their subjects, for graphs with few names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

SHOWN = 3
# Mean length of the longest names.
LONGEST = 60

# Subjects that a relation needs, since one text is always unique.
LEAST = 3

# Least share of texts that occur once, and of subjects with one text.
UNIQUE = 0.9


def naming_candidates(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the relations that seem to name: short texts, nearly unique, a single text for each subject; most first.

    There are none where half of the subjects have names anyhow. Counts that are near enough need little time.
    """
    labels = "SELECT approx_count_distinct(id) FROM name WHERE NOT alias"
    row = con.execute(f"SELECT ({labels}), approx_count_distinct(s) FROM fact").fetchone()
    if row is None or 2 * row[0] >= row[1]:
        return []
    # A number, a date or any other typed value is no name.
    rows = con.execute(
        "SELECT r FROM (SELECT r, count(*) AS n, approx_count_distinct(s) AS subjects, "
        "approx_count_distinct(o) AS texts, avg(length(o)) AS size FROM fact WHERE literal "
        "AND NOT regexp_full_match(o, '(?s)\".*\"\\^\\^\\S+') AND regexp_matches(o, '\\pL\\pL') GROUP BY r) "
        f"WHERE n >= {LEAST} AND size <= {LONGEST} AND subjects >= {UNIQUE} * n AND texts >= {UNIQUE} * n "
        "ORDER BY n DESC, r"
    ).fetchall()
    return [row[0] for row in rows[:SHOWN]]


def few_names(labels: int, entities: int, candidates: Sequence[str]) -> str:
    """Return a sentence: few entities have a name, and these relations may give them names."""
    told = f"{labels:,} of {entities:,} entities have a name, the others are called by their ids"
    if not candidates:
        return f"{told}; if a relation names them, give it as --label-relation"
    more = f" (or {', '.join(candidates[1:])})" if candidates[1:] else ""
    return f"{told}; {candidates[0]}{more} looks like a name: --label-relation {candidates[0]}"
