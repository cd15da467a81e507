"""Evaluation of files of results or links, from this framework or other programs, against gold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from srtk_framework.graph import with_gold_triples, with_own_ids
from srtk_framework.records import FIELDS, read_jsonl, read_questions, retrieval_from_record, shown
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import LINKED_BY, InputError, Link, Question, Retrieval, Subgraph
from srtk_plugin_evaluation.comparison import compare_runs
from srtk_plugin_evaluation.completion import CompletionScorer
from srtk_plugin_evaluation.gold_ids import GoldIds
from srtk_plugin_evaluation.link_scores import covered_by, link_counts
from srtk_plugin_evaluation.method_names import method_names
from srtk_plugin_evaluation.metrics import compare, row
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.training_overlap import RELATIONS, read_training_overlap

_SHOWN = 5  # Ids in a message.

FilePath = str | Path


def evaluate_files(
    predictions: Sequence[FilePath],
    questions: FilePath | None,
    names: Sequence[str] | None = None,
    missing: Literal["error", "fail"] = "error",
    fields: Sequence[str] = (),
    train: FilePath | None = None,
    graph: KnowledgeGraph | None = None,
) -> dict[str, Any]:
    """Score result files on the same questions, and compare the first with each other file.

    Results are joined to questions by ``id``. Records without an id, and files without the id of any question, are
    joined by the text of the question.

    Args:
        predictions: JSON Lines files of results, in the format of this framework, SRTK, RoG or SubgraphRAG; or only
            folders of finished runs, whose methods are all compared, without a question file.
        questions: Question file with the gold; None to use the gold in the results.
        names: One name per method; by default derived from the files' names.
        missing: Treatment of a question without a result: an error, or counted as failed.
        fields: Fields of the question records to slice by.
        train: Training examples or training questions, to slice by the relations and paths in them.
        graph: Graph that the questions were asked of: gold triples are read along gold paths, and pattern questions
            are sliced by cardinality, half-links and words of the answers. None without both.

    Raises:
        InputError: If a file cannot be read, results and questions do not match, or there is no gold.
    """
    if not predictions:
        raise InputError("there is no result file to evaluate; give at least one")
    overlap = None if train is None else read_training_overlap(train)
    folders = [Path(file) for file in predictions if Path(file).is_dir()]
    if folders and graph is not None:
        raise InputError(f"{folders[0]} is a folder of a run, which was scored with its own graph; omit -kg")
    if folders and questions is None and len(folders) == len(predictions):
        return _sliced(compare_runs(folders, names, fields, overlap), train)
    if folders:
        raise InputError(
            f"{folders[0]} is a folder; give its result file, or only folders of finished runs and no question file"
        )
    methods = method_names(predictions, names)
    gold = None if questions is None else Gold(shown(questions), list(read_questions(questions)), missing)
    scorer, ids = CompletionScorer(graph), GoldIds()
    rows = {
        method: _rows(own_results(file), scorer, graph, ids) if gold is None else gold.rows(file, scorer, graph, ids)
        for method, file in zip(methods, predictions, strict=True)
    }
    first = rows[methods[0]]
    if not any(r.metrics[name] is not None for r in first for name in ("answer_coverage", "triple_recall", "path_hit")):
        source = shown(predictions[0] if questions is None else questions)
        raise InputError(
            f"{source}: no record has gold (answer_entities, gold_triples or gold_paths, or answers in a field of a"
            f" public set: {', '.join(FIELDS)}); give a question file that has gold"
        )
    unknown = ids.report(graph)
    report = compare(rows, fields=fields, overlap=overlap)
    if ids.fields:
        report["gold_fields"] = dict(ids.fields)
    return _sliced(report if unknown is None else {**report, "gold_ids": unknown}, train)


def _sliced(report: dict[str, Any], train: FilePath | None) -> dict[str, Any]:
    if train is not None and RELATIONS not in report["slices"]:
        raise InputError(
            f"no question has gold_paths or gold_triples to look up in {shown(train)}; add them to the questions, or"
            " omit --train"
        )
    return report


def _rows(
    results: Sequence[Retrieval],
    scorer: CompletionScorer,
    graph: KnowledgeGraph | None,
    gold_ids: GoldIds,
    links: Mapping[str, str] | None = None,
) -> list[Row]:
    questions = [result.question for result in results]
    gold_ids.take_fields(questions)
    if graph is not None:
        questions = with_gold_triples(graph, with_own_ids(graph, questions))
        results = [attrs.evolve(one, question=question) for one, question in zip(results, questions, strict=True)]
    for result in results:
        gold_ids.add(result)
    return [
        row(result, None, (links or {}).get(result.question.id), completion)
        for result, completion in zip(results, scorer.score(results), strict=True)
    ]


def own_results(file: FilePath) -> list[Retrieval]:
    """Read the results of a file.

    Raises:
        InputError: If the file has no results or an id twice.
    """
    found: list[Retrieval] = []
    seen: dict[str, int] = {}
    for number, _, retrieval in _results(file):
        _once(seen, retrieval.question.id, "id", file, number)
        found.append(retrieval)
    if not found:
        raise InputError(f"{shown(file)}: the file has no results; give a file with one result per line")
    return found


def _once(seen: dict[str, int], key: str, kind: str, file: FilePath, number: int) -> None:
    if key in seen:
        raise InputError(
            f"{shown(file)}:{number}: line {seen[key]} already has a result for {kind} {key!r}; keep one of them"
        )
    seen[key] = number


class Gold:
    """Questions with gold, to which results are joined by id or by text.

    Args:
        source: Name of the question file, for messages.
        questions: The questions, in the order of the rows.
        missing: See ``evaluate_files``.
    """

    def __init__(self, source: str, questions: Sequence[Question], missing: str) -> None:
        self.source = source
        self.questions = questions
        self.missing = missing
        self.by_id = {question.id: question for question in questions}
        self.by_text: dict[str, list[Question]] = {}
        for question in questions:
            self.by_text.setdefault(_key(question.text), []).append(question)

    def rows(
        self, file: FilePath, scorer: CompletionScorer, graph: KnowledgeGraph | None, gold_ids: GoldIds
    ) -> list[Row]:
        """Score the results of one file, in the order of the questions."""
        links: dict[str, str] = {}

        def join(result: Retrieval, question: Question) -> Retrieval:
            joined, links[question.id] = _joined(result, question)
            return joined

        return _rows(self.results(file, join), scorer, graph, gold_ids, links)

    def results(self, file: FilePath, join: Callable[[Retrieval, Question], Retrieval]) -> list[Retrieval]:
        """Read the results of one file, in the order of the questions; a missing result counts as failed.

        Args:
            file: JSON Lines file.
            join: Function that adds the gold of the question to a result.
        """
        by_id = any(str(record.get("id")) in self.by_id for _, record in read_jsonl(file))
        found: dict[str, Retrieval] = {}
        seen: dict[str, int] = {}
        strangers: list[str] = []
        total = 0
        for number, record, retrieval in _results(file):
            total += 1
            if by_id and record.get("id") is not None:
                question = self.by_id.get(retrieval.question.id)
                name = retrieval.question.id
            else:
                question = self._of_text(retrieval.question.text, file, number)
                name = retrieval.question.text
            if question is None:
                strangers.append(name)
                continue
            _once(seen, question.id, "question", file, number)
            found[question.id] = join(retrieval, question)
        if strangers:
            raise InputError(
                f"{shown(file)}: {len(strangers)} of {total} results match no question of {self.source}"
                f" ({_some(strangers)}); use the same ids or texts in both files"
            )
        lacking = [question for question in self.questions if question.id not in found]
        if lacking and self.missing == "error":
            raise InputError(
                f"{shown(file)}: {len(lacking)} of {len(self.questions)} questions of {self.source} have no result"
                f" ({_some([question.id for question in lacking])}); give only the questions that were run, or use"
                " `--missing fail` to count missing results as failed"
            )
        for question in lacking:
            found[question.id] = Retrieval(question, error=f"no result in {shown(file)}")
        return [found[question.id] for question in self.questions]

    def _of_text(self, text: str, file: FilePath, number: int) -> Question | None:
        same = self.by_text.get(_key(text), [])
        if len(same) > 1:
            ids = _some([question.id for question in same])
            raise InputError(
                f"{shown(file)}:{number}: {len(same)} questions of {self.source} have this text ({ids});"
                " give the results the ids of the questions"
            )
        return same[0] if same else None


def _results(file: FilePath) -> Iterator[tuple[int, Mapping[str, Any], Retrieval]]:
    for number, record in read_jsonl(file):
        yield number, record, retrieval_from_record(record, f"{shown(file)}:{number}", str(number))


def _joined(retrieval: Retrieval, gold: Question) -> tuple[Retrieval, str]:
    """Add the gold of its question to a result; return ``linked`` if the result's links differ, else ``given``."""
    used = {link.entity for link in retrieval.question.links}
    known = {link.entity for link in gold.links}
    links = (*gold.links, *(link for link in retrieval.question.links if link.entity not in known))
    linked = retrieval.subgraph.trace.get("links") == "linked" or bool(used and used != known)
    extra = {**retrieval.question.extra, **gold.extra}
    asked = gold if gold.pattern is not None else retrieval.question
    joined = attrs.evolve(gold, links=links, extra=extra, pattern=asked.pattern, candidates=asked.candidates)
    return attrs.evolve(retrieval, question=joined), "linked" if linked else "given"


def _key(text: str) -> str:
    return " ".join(text.split())


def _some(items: Sequence[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def evaluate_links(
    predictions: Sequence[str | Path],
    gold: Sequence[Question] | None = None,
    source: str = "",
    names: Sequence[str] | None = None,
    missing: Literal["error", "fail"] = "error",
    fields: Sequence[str] = (),
    graph: KnowledgeGraph | None = None,
) -> dict[str, Any]:
    """Score files of links on the same questions, and compare the first with each other file.

    Args:
        predictions: JSON Lines files with ``question_entities`` and optionally ``spans`` and ``entity_scores``.
        gold: Questions with gold links; None to use the gold links in the records.
        source: Name of the gold, for messages.
        names: One name per linker; by default derived from the files' names.
        missing: Treatment of a question without a record: an error, or counted as a question without links.
        fields: Fields of the question records to slice by.
        graph: Graph that decides which gold entities are covered, or None.

    Raises:
        InputError: If a file cannot be read, records and questions do not match, or there are no gold links.
    """
    if not predictions:
        raise InputError("there is no file of links to evaluate; give at least one")
    methods = method_names(predictions, names)
    found: dict[str, list[Retrieval]] = {}
    for method, file in zip(methods, predictions, strict=True):
        if gold is None:
            found[method] = own_results(file)
        else:
            unlinked = [attrs.evolve(question, links=()) for question in gold]
            found[method] = Gold(source, unlinked, missing).results(file, _with_links)
    questions = list(gold) if gold is not None else [result.question for result in next(iter(found.values()))]
    if all(question.gold_links is None for question in questions):
        raise InputError(
            f"{source or shown(predictions[0])}: no record has gold_links; give questions with gold_links by --gold"
        )
    if graph is not None:
        questions = with_own_ids(graph, questions)
        own = {question.id: question.gold_links for question in questions}
        found = {method: [_with_gold_links(result, own) for result in results] for method, results in found.items()}
    covered = None if graph is None else covered_by(graph, questions)
    rows: dict[str, list[Row]] = {}
    for method, results in found.items():
        rows[method] = []
        for result in results:
            # Score the links even if the record's trace marks them as part of the input.
            linked = attrs.evolve(result, subgraph=Subgraph(trace={LINKED_BY: []}))
            rows[method].append(attrs.evolve(row(linked), metrics={}, ranks=None, linking=link_counts(linked, covered)))
    return compare(rows, fields=fields)


def _with_gold_links(result: Retrieval, own: Mapping[str, tuple[Link, ...] | None]) -> Retrieval:
    """Give a result the gold links of its question in the ids of the graph."""
    question = result.question
    return attrs.evolve(result, question=attrs.evolve(question, gold_links=own.get(question.id, question.gold_links)))


def _with_links(result: Retrieval, gold: Question) -> Retrieval:
    """Combine the gold of a question with the links of its record."""
    extra = {**result.question.extra, **gold.extra}
    return attrs.evolve(result, question=attrs.evolve(gold, links=result.question.links, extra=extra))
