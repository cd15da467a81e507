"""The stage ``evaluate``: scores the results of a run against the gold, beside the results of other expanders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import attrs

from srtk_framework.cli import note
from srtk_framework.graph import with_gold_triples
from srtk_framework.recipe import Block, Blocks, Stage, hookimpl
from srtk_framework.records import field_of_gold, unread_gold, write_json
from srtk_framework.run import Run
from srtk_framework.values import batched
from srtk_plugin_evaluation.completion import CompletionScorer
from srtk_plugin_evaluation.gold_ids import GoldIds, read_from, scored, sentence, unread
from srtk_plugin_evaluation.link_scores import covered_by, link_counts
from srtk_plugin_evaluation.metrics import report_of, row
from srtk_plugin_evaluation.row_table import RowTable
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.scores import FILE as SCORES
from srtk_plugin_evaluation.scores import write_scores
from srtk_plugin_evaluation.training_overlap import overlap_of_training

REPORT = "evaluation.json"


@attrs.define
class Evaluate(Stage):
    """Scores the results of a run against the gold, beside the results of other expanders.

    Attributes:
        against: Expanders that answer the questions too.
    """

    files = (REPORT, SCORES)
    folders = ("comparison",)

    against: list[Block] = attrs.field(factory=list)
    _gold_fields: Counter[str] = attrs.field(factory=Counter, init=False, repr=False)
    _unread_fields: Counter[str] = attrs.field(factory=Counter, init=False, repr=False)

    @classmethod
    def read(cls, value: Any, blocks: Blocks) -> Self | None:
        """Read ``true``, or the expanders to compare with."""
        if value is True:
            return cls()
        if not isinstance(value, Mapping) or not set(value) <= {"against"}:
            blocks.wrong(("evaluate",), "evaluate is true, or {against: [{use: NAME}, ...]}")
            return None
        return cls(blocks.listed("expander", value.get("against", []), ("evaluate", "against")))

    @classmethod
    def schema(cls, writer: Any) -> dict[str, Any]:
        """Describe the values of ``evaluate``."""
        against = {"type": "array", "items": writer.top("expander")}
        named = {"properties": {"against": against}, "additionalProperties": False}
        return {"type": ["boolean", "object", "null"], **named}

    def beside(self) -> Sequence[Block]:
        """Name the expanders to compare with."""
        return self.against

    def with_expanders(self, change: Callable[[Block], Block]) -> Self:
        """Return the stage with its expanders changed."""
        return attrs.evolve(self, against=[change(block) for block in self.against])

    def steps(self) -> Sequence[str]:
        """Name the scored methods."""
        names = ", ".join(str(block.settings.get("name", block.name)) for block in self.against)
        return [f"score the results{', beside the results of ' if names else ''}{names}"]

    @hookimpl
    def after_run(self, run: Run) -> None:
        """Score all methods, and write the report and the scores of each question."""
        session = run.session
        self._gold_fields, self._unread_fields = Counter(), Counter()
        gold_links = False
        for question in run.asked():
            gold_links = gold_links or question.gold_links is not None
            source = field_of_gold(question)
            self._gold_fields.update(() if source is None else (source,))
            self._unread_fields.update(unread_gold(question))
        # Without a method there is no subgraph to score.
        links_alone = session.linker is not None and not session.methods
        if links_alone and not gold_links:
            return
        trained = run.manifest.get("training")
        overlap = None if trained is None else overlap_of_training(Path(trained["folder"]))
        gold_ids, tables = GoldIds(), {name: RowTable(overlap=overlap) for name in run.results}

        def tabled() -> Iterator[tuple[str, Row]]:
            for name, found in self._rows(run, gold_ids):
                kept = attrs.evolve(found, metrics={}, ranks=None) if links_alone else found
                tables[name].add(kept)
                yield name, kept

        write_scores(run.output, tabled())
        report = report_of(tables)
        shares = {name: share_of_time(table) for name, table in run.timing.items()}
        if shares:
            report["share_of_time"] = shares
        unknown = gold_ids.report(session.graph)
        if unknown is not None:
            report["gold_ids"] = unknown
        run.stages[self.key] = report
        write_json(run.output / REPORT, report)

    def _rows(self, run: Run, gold_ids: GoldIds) -> Iterator[tuple[str, Row]]:
        """Score the results of each method."""
        graph = run.session.graph
        scorer = CompletionScorer(graph)
        for name, journal in run.results.items():
            seconds = journal.seconds()
            for batch in batched(journal.read(), run.recipe.options.batch):
                questions = [retrieval.question for retrieval in batch]
                if graph is not None:
                    questions = with_gold_triples(graph, questions)
                known = None if graph is None else covered_by(graph, questions)
                for retrieval, question, completion in zip(batch, questions, scorer.score(batch), strict=True):
                    gold_ids.add(retrieval)
                    found = row(attrs.evolve(retrieval, question=question), next(seconds), None, completion)
                    yield name, attrs.evolve(found, linking=link_counts(retrieval, known))

    @hookimpl
    def report(self, run: Run, quiet: bool) -> None:
        """Print the tables, write the comparison, and note the origin of the gold."""
        report = run.stages.get(self.key)
        if report is not None and not quiet:
            from srtk_plugin_evaluation.reports import print_tables

            print_tables(report)
        if report is not None and self.against:
            from srtk_plugin_evaluation.reports import write

            write(report, run.output / "comparison", quiet)
        for text in self._notes(report):
            note(text)

    def _notes(self, report: Mapping[str, Any] | None) -> Iterator[str]:
        """Note the fields of gold answers, and why a scored run has no figures."""
        if self._gold_fields:
            yield read_from(self._gold_fields)
        if self._unread_fields and not (report is not None and scored(report)):
            yield unread(self._unread_fields)
        if report is not None and "gold_ids" in report:
            yield sentence(report["gold_ids"])

    @hookimpl
    def report_together(self, runs: Sequence[Run], quiet: bool) -> None:
        """Print the comparison of the runs, and write it beside their folders."""
        from srtk_plugin_evaluation.reports import compare_runs

        compare_runs([run.output for run in runs if self.key in run.recipe.stages], quiet)


def share_of_time(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return each driver's share of the measured time, as ``role:driver`` -> 0..1."""
    own: dict[str, float] = {}
    for key, times in table.items():
        driver = key.rsplit(".", 1)[0]
        own[driver] = own.get(driver, 0.0) + times["own"]
    whole = sum(own.values()) or 1.0
    return {driver: round(seconds / whole, 4) for driver, seconds in sorted(own.items())}
