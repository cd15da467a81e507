from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_knowlybert.annotated import AnnotatedCorpus
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_knowlybert.context import Paragraph, paragraphs
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_knowlybert.names import all_names
from srtk_plugin_knowlybert.variants import CODE, PUBLISHED, Rules
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import TripleTable
from srtk_framework.records import with_checksum
from srtk_framework.roles import MaskFiller, TrainingTask
from srtk_framework.values import (
    DriverError,
    Entry,
    InputError,
    MaskedText,
    Pattern,
    Step,
    TokenScore,
    Triple,
    rounded,
)

GAP = "_"
LEAST = 1e-4
"""Probability of a token that the table does not have."""


@attrs.define(eq=False)
class TableFiller(MaskFiller):
    """Fill gaps by a table: by a part of the text, the probability of tokens in each gap in turn.

    A word is one token, and so is each part of a word between hyphens. The longest part that a text has counts; other
    tokens have the same small probability.
    """

    table: Mapping[str, Sequence[Mapping[str, float]]]
    asked: list[MaskedText] = attrs.field(init=False, factory=list)

    def mask(self) -> str:
        return GAP

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return [text.replace("-", " - ").split() for text in texts]

    def fill(self, texts: Sequence[MaskedText], k: int) -> list[list[list[TokenScore]]]:
        self.asked += texts
        rows = [[sorted(gap.items(), key=lambda one: (-one[1], one[0]))[:k] for gap in self._gaps(t)] for t in texts]
        return [[[TokenScore(token, rounded(math.log(p))) for token, p in gap] for gap in row] for row in rows]

    def rate(self, texts: Sequence[MaskedText], fillings: Sequence[Any]) -> list[Any]:
        self.asked += texts
        return [
            np.array(
                [
                    [math.log(gap.get(one, LEAST)) for one, gap in zip(some, self._gaps(text), strict=True)]
                    for some in rows
                ],
                dtype=np.float32,
            )
            for text, rows in zip(texts, fillings, strict=True)
        ]

    def _gaps(self, text: MaskedText) -> list[Mapping[str, float]]:
        count = text.text.split().count(GAP)
        parts = [part for part in self.table if part in text.text and len(self.table[part]) == count]
        return list(self.table[max(parts, key=len)]) if parts else [{}] * count


LABELS = {
    "Q1": "Ulm",
    "Q2": "Munich",
    "Q3": "Bern",
    "Q4": "Paris",
    "Q5": "New York",
    "Q6": "Paris",
    "ae": "Albert Einstein",
    "mc": "Marie Curie",
    "born": "born in",
}
TOWNS = [
    Triple("mc", "born", "Q4"),
    Triple("x1", "born", "Q4"),
    Triple("x2", "born", "Q2"),
    Triple("x3", "born", "Q3"),
    Triple("ae", "knows", "mc"),
    Triple("Q1", "in", "germany"),
    Triple("Q2", "in", "germany"),
    Triple("Q5", "in", "usa"),
    Triple("Q6", "in", "usa"),
    Triple("mc", "knows", "Q6"),
]


@pytest.fixture
def towns() -> MemoryGraph:
    graph = MemoryGraph(triples=TOWNS, labels=LABELS)
    graph.open()
    return graph


BORN = Pattern("ae", "born")
ULM = {
    "Albert Einstein was born in": [{"Ulm": 0.9, "Munich": 0.5, "Paris": 0.75, "the": 0.6}],
    "birthplace of Albert Einstein is": [{"Ulm": 0.8, "Munich": 0.05, "Paris": 0.05, "Bern": 0.2}],
    "Albert Einstein was born in _ _": [{"New": 0.6, "Ulm": 0.3}, {"York": 0.2, "Munich": 0.1}],
}
TEMPLATES = {"born": ["{subject} was born in {object} .", "The birthplace of {subject} is {object} ."]}

Make = Callable[..., MaskedLMCompleter]
RULE_NAMES = {field.name for field in attrs.fields(Rules)} - {"types"}
"""Single rules of the variants, which differ in several at once."""


@pytest.fixture
def make(towns: MemoryGraph, tmp_path: Path) -> Iterator[Make]:
    """Open a completer with the table of Ulm."""
    opened = []
    file = tmp_path / "templates.json"
    file.write_text(json.dumps(TEMPLATES))

    def build(table: Any = ULM, **settings: Any) -> MaskedLMCompleter:
        published = {"types": "none", "stability": "difference", "mean": "probability", "over": "greatest"}
        asked = {**published, **settings}
        rules = {name: asked.pop(name) for name in list(asked) if name in RULE_NAMES}
        one = MaskedLMCompleter(
            graph=asked.pop("graph", towns),
            filler=asked.pop("filler", TableFiller(table)),
            **{"templates": str(file), **asked},
        )
        one._rules = attrs.evolve(one._rules, **rules)
        one.open()
        opened.append(one)
        return one

    yield build
    for one in opened:
        one.close()


def found(completer: MaskedLMCompleter, pattern: Pattern = BORN) -> dict[str, float]:
    """Complete a pattern; return the confidences of the fillers."""
    (row,) = completer.complete([pattern], None)
    side = 0 if pattern.subject is None else 2
    return {str(one.triple[side]): round(one.confidence, 4) for one in row}


def test_a_label_has_its_best_score_over_the_templates(make: Make) -> None:
    assert found(make(stability="none", popularity=0)) == {"Q1": 0.9, "Q4": 0.75, "Q2": 0.5, "Q5": 0.4, "Q3": 0.2}


def test_a_label_may_have_its_mean_score_over_the_templates(make: Make) -> None:
    """A template that does not find a label gives it nothing."""
    assert found(make(stability="none", over="mean")) == {"Q1": 0.85, "Q4": 0.4, "Q2": 0.275, "Q5": 0.2, "Q3": 0.1}


@pytest.mark.parametrize(("stability", "kept"), [("difference", {"Q1", "Q2", "Q3", "Q5"}), ("sum", {"Q1", "Q4", "Q5"})])
def test_labels_on_which_the_templates_disagree_are_dropped(make: Make, stability: str, kept: set[str]) -> None:
    assert set(found(make(stability=stability))) == kept


def test_a_label_of_several_tokens_needs_as_many_gaps(make: Make) -> None:
    assert "Q5" not in found(make(masks=1))
    assert found(make(masks=2))["Q5"] == 0.4


def test_all_labels_are_rated_without_a_list_of_tokens(make: Make) -> None:
    rated = found(make(top=None, stability="none"))
    assert rated.items() >= {"Q1": 0.9, "Q4": 0.75, "Q2": 0.5, "Q5": 0.4, "Q3": 0.2}.items()
    # What the table lacks has its least probability.
    assert rated["germany"] == 0.0001


def test_of_two_entities_with_one_label_the_more_popular_is_taken(make: Make) -> None:
    assert {"Q4", "Q6"} & set(found(make(stability="none"))) == {"Q4"}
    assert {"Q4", "Q6"} & set(found(make(stability="none", homonyms="all"))) == {"Q4", "Q6"}


def test_types_are_asked_before_popularity(make: Make, towns: MemoryGraph) -> None:
    """Of two towns called Paris only one has been a birthplace."""
    table = {"Albert Einstein was born in": [{"Paris": 0.9}]}
    more = MemoryGraph(triples=[*TOWNS, *(Triple(f"y{i}", "likes", "Q6") for i in range(9))], labels=LABELS)
    more.open()
    assert set(found(make(table, graph=more))) == {"Q6"}
    assert set(found(make(table, graph=more, types="seen"))) == {"Q4"}


def test_hard_types_let_pass_what_fits(make: Make) -> None:
    assert set(found(make(types="seen", stability="none"))) == {"Q4", "Q2", "Q3"}
    # Ulm and New York have a step in common with Munich.
    assert set(found(make(types="signatures", stability="none"))) == {"Q1", "Q4", "Q2", "Q5", "Q3"}


def test_a_less_popular_entity_may_be_refused(make: Make) -> None:
    assert set(found(make(stability="none", popularity=2))) == {"Q4"}


def test_both_ends_are_completed(make: Make) -> None:
    table = {"_ _ was born in Ulm": [{"Albert": 0.5, "Marie": 0.3}, {"Einstein": 0.7, "Curie": 0.1}]}
    assert found(make(table), Pattern(None, "born", "Q1")) == {"ae": 0.6, "mc": 0.2}


def test_what_the_graph_holds_is_not_proposed(make: Make) -> None:
    table = {"Marie Curie was born in": [{"Paris": 0.9, "Ulm": 0.1}]}
    assert found(make(table), Pattern("mc", "born")) == {"Q1": 0.1}


def test_the_dynamic_threshold_cuts_at_the_gap(make: Make) -> None:
    assert set(found(make(stability="none", threshold="dynamic"))) == {"Q1"}
    assert set(found(make(stability="none", threshold="dynamic", masks=1))) == {"Q1", "Q4"}


def test_a_completion_names_the_filled_sentence(make: Make) -> None:
    (row,) = make().complete([BORN], 1)
    (reason,) = row[0].evidence
    assert (reason.kind, reason.text) == ("template", "Albert Einstein was born in Ulm .")
    assert (reason.source, reason.score) == (TEMPLATES["born"][0], round(math.log(0.9), 4))


def test_sentences_about_the_known_entity_stand_beside_the_template(make: Make, tmp_path: Path) -> None:
    index = Bm25Index(path=str(tmp_path / "texts"))
    index.create()
    index.add(
        [
            Entry("e", "Albert Einstein was a physicist. He moved. He wrote. He slept."),
            Entry("m", "Ulm is old. It is where Albert Einstein was born."),
        ]
    )
    index.commit()
    completer = make(index=index, context=2)
    (row,) = completer.complete([BORN], 1)
    texts = {text.context for text in completer.filler.asked}
    assert texts == {"Albert Einstein was a physicist. He moved."}
    assert [(one.kind, one.source) for one in row[0].evidence] == [("template", TEMPLATES["born"][0]), ("snippet", "e")]
    index.close()


def test_a_relation_without_template_is_asked_by_its_label(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    completer = make({"Albert Einstein knows": [{"Ulm": 0.4}]})
    with caplog.at_level(logging.INFO):
        assert found(completer, Pattern("ae", "knows")) == {"Q1": 0.4}
    assert "1 relations have no template and are asked by their labels" in caplog.text


def test_a_mark_of_a_gap_in_a_name_is_no_gap(make: Make, towns: MemoryGraph) -> None:
    labels = {**LABELS, "ae": "Albert _ Einstein"}
    graph = MemoryGraph(triples=TOWNS, labels=labels)
    graph.open()
    completer = make({"was born in _": [{"Ulm": 0.9}]}, graph=graph, masks=1)
    assert found(completer) == {"Q1": 0.9}


def test_entities_without_a_triple_are_found_by_further_names(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("Q9\tUlm\nQ9\tUlm upon Danube\n")
    assert found(make({"Albert Einstein was born in": [{"Ulm": 0.9}]}, names=str(file), homonyms="all")) == {
        "Q1": 0.9,
        "Q9": 0.9,
    }
    file.write_text("Q9 Ulm\n")
    with pytest.raises(InputError, match=r"names.tsv:1: a line has an id, a tab and a name"):
        make(names=str(file))


def test_unknown_ends_and_relations_have_no_completion(make: Make) -> None:
    completer = make()
    assert completer.complete([Pattern("nobody", "born"), Pattern("ae", "unheard")], None) == [[], []]


def test_the_order_of_templates_plays_no_part(make: Make, tmp_path: Path) -> None:
    turned = tmp_path / "turned.json"
    turned.write_text(json.dumps({"born": TEMPLATES["born"][::-1]}))
    assert found(make(templates=str(turned))) == found(make())


def test_a_pattern_is_completed_alike_in_any_batch(make: Make) -> None:
    patterns = [BORN, Pattern("mc", "born"), Pattern(None, "born", "Q1")]
    completer = make()
    assert completer.complete(patterns, 3) == [completer.complete([one], 3)[0] for one in patterns]


def test_a_filler_that_only_rates_is_refused_where_tokens_are_to_be_found(make: Make) -> None:
    @attrs.define(eq=False)
    class Rating(TableFiller):
        def fills(self) -> bool:
            return False

    with pytest.raises(DriverError, match="set `top: null`"):
        make(filler=Rating(ULM))
    assert make(filler=Rating(ULM), top=None).complete([BORN], 1)


def test_steps_are_offered_by_signatures(make: Make) -> None:
    assert make().offers([["ae"]], False) == [[Step("born"), Step("knows")]]


# Training

TEXTS = [
    ("Marie Curie was born in Paris .", {"mc": "Marie Curie", "Q4": "Paris"}),
    ("Paris is where Marie Curie was born .", {"mc": "Marie Curie", "Q4": "Paris"}),
]
MINED = {
    "Marie Curie was born in _": [{"Paris": 0.8, "Munich": 0.1}],
    "_ is where Marie Curie": [{"Paris": 0.1, "Munich": 0.9}],
    "Albert Einstein was born in _": [{"Ulm": 0.9}],
}


@pytest.fixture
def corpus(tmp_path: Path) -> AnnotatedCorpus:
    file = tmp_path / "texts.jsonl"
    rows = [
        {"text": text, "mentions": [[text.index(n), text.index(n) + len(n), id_] for id_, n in names.items()]}
        for text, names in TEXTS
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = AnnotatedCorpus(path=str(file))
    corpus.open()
    return corpus


def test_templates_are_mined_ranked_and_kept_with_the_threshold(
    make: Make, corpus: AnnotatedCorpus, tmp_path: Path
) -> None:
    completer = make(MINED, corpus=corpus, templates=None, threshold="static")
    figures = completer.fit(TrainingTask([], None, tmp_path), MaskedLMFitSettings(keep=1))
    assert figures["templates"] == 1
    assert figures["relations with templates"] == 1
    # Of what the graph holds, the model finds Paris as Marie Curie's birthplace alone.
    assert figures["threshold"] == pytest.approx(0.8, abs=1e-4)
    completer.save(tmp_path / "model")
    learnt = json.loads((tmp_path / "model" / "masked-lm.json").read_text())
    assert learnt["templates"] == {"born": ["{subject} was born in {object} ."]}
    again = make(MINED, templates=None, threshold="static", path=str(tmp_path / "model"))
    assert found(again) == found(completer) == {"Q1": 0.9}


def test_what_was_held_out_makes_no_template(make: Make, corpus: AnnotatedCorpus, tmp_path: Path) -> None:
    completer = make(MINED, corpus=corpus, templates=None)
    held = [Triple("mc", "born", "Q4")]
    assert completer.fit(TrainingTask([], None, tmp_path, 0, held), MaskedLMFitSettings())["templates"] == 0


def test_what_says_a_held_out_fact_again_makes_no_template(make: Make, corpus: AnnotatedCorpus, tmp_path: Path) -> None:
    """The texts join Marie Curie and Paris, which `native` says again where `born` is held out."""
    pairs = [("mc", "Q4"), ("ae", "Q4")]
    graph = MemoryGraph(triples=[Triple(*pair) for s, o in pairs for pair in ((s, "born", o), (o, "native", s))])
    graph.open()
    held = [Triple("mc", "born", "Q4")]
    for twins, templates in ((0.6, 0), (None, 2)):
        completer = make(MINED, graph=graph, corpus=corpus, templates=None)
        figures = completer.fit(TrainingTask([], None, tmp_path, 0, held), MaskedLMFitSettings(twins=twins))
        assert (figures["templates"], figures["twin_triples"]) == (templates, 1 if twins else 0)


def test_soft_types_are_learnt_on_held_out_facts(make: Make, tmp_path: Path) -> None:
    """Towns are never countries, whatever the language model says."""
    facts = [Triple(f"t{i}", "in", f"c{i % 4}") for i in range(40)]
    names = {f"t{i}": f"town{i}" for i in range(40)} | {f"c{i}": f"land{i}" for i in range(4)}
    graph = MemoryGraph(triples=facts, labels=names)
    graph.open()
    table = {f"town{i} in _": [{f"land{i % 4}": 0.3, f"town{(i + 1) % 40}": 0.6}] for i in range(40)}
    completer = make(table, graph=graph, types="soft", templates=None)
    completer._given = {}
    file = tmp_path / "in.json"
    file.write_text(json.dumps({"in": ["{subject} in {object}"]}))
    completer = make(table, graph=graph, types="soft", templates=str(file))
    completer.fit(TrainingTask([], None, tmp_path, 0, facts[:12]), MaskedLMFitSettings())
    left = MemoryGraph(triples=facts[12:], labels=names)
    left.open()
    completer.save(tmp_path / "model")
    lands = tmp_path / "names.tsv"
    lands.write_text("".join(f"{id_}\t{name}\n" for id_, name in names.items()))
    asked = {"graph": left, "names": str(lands), "templates": str(file), "path": str(tmp_path / "model")}
    hard, soft = make(table, types="none", **asked), make(table, types="soft", **asked)
    pattern = Pattern("t3", "in")
    assert next(iter(found(hard, pattern))) == "t4"
    assert next(iter(found(soft, pattern))) == "c3"
    assert found(soft, pattern)["c3"] > 0.5


def test_a_completer_without_texts_and_templates_learns_nothing(make: Make, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="nothing to learn templates from"):
        make(templates=None).fit(TrainingTask([], None, tmp_path), MaskedLMFitSettings())


def test_what_was_learnt_with_another_tokenizer_is_refused(make: Make, tmp_path: Path) -> None:
    completer = make()
    completer.fit(TrainingTask([], None, tmp_path), MaskedLMFitSettings())
    completer.save(tmp_path / "model")

    @attrs.define(eq=False)
    class Letters(TableFiller):
        def tokens(self, texts: Any) -> Any:
            return [list(text) for text in texts]

    with pytest.raises(DriverError, match="another tokenizer"):
        make(filler=Letters(ULM), path=str(tmp_path / "model"))


@pytest.mark.parametrize("text", ["{", with_checksum('{"format": "other", "tokenizer": ""}')[0]])
def test_a_damaged_model_is_refused(make: Make, tmp_path: Path, text: str) -> None:
    (tmp_path / "masked-lm.json").write_text(text)
    with pytest.raises(DriverError, match=r"masked-lm\.json"):
        make(path=str(tmp_path))


@pytest.mark.parametrize(
    ("settings", "rules"),
    [
        ({}, Rules()),
        ({"variant": "published"}, PUBLISHED),
        ({"variant": "code"}, CODE),
        ({"variant": "code", "types": "seen"}, attrs.evolve(CODE, types="seen")),
        ({"types": "none"}, Rules(types="none")),
    ],
)
def test_a_variant_sets_all_rules_and_types_replace_its_own(settings: Any, rules: Rules, towns: MemoryGraph) -> None:
    assert MaskedLMCompleter(graph=towns, filler=TableFiller({}), **settings)._rules == rules


def test_the_published_variants_answer_differently_and_drop_labels(towns: MemoryGraph, tmp_path: Path) -> None:
    file = tmp_path / "templates.json"
    file.write_text(json.dumps(TEMPLATES))
    answers = []
    for variant in ("default", "published", "code"):
        one = MaskedLMCompleter(
            graph=towns, filler=TableFiller(ULM), templates=str(file), variant=variant, types="none"
        )
        one.open()
        answers.append(found(one))
        one.close()
    # Ulm is nobody's object in the graph, so that the published variants, with a least popularity of 1, drop it.
    assert "Q1" in answers[0]
    assert all("Q1" not in row for row in answers[1:])
    assert answers[1] != answers[2]


def test_each_rule_of_a_variant_is_named() -> None:
    rules: Any = Rules
    with pytest.raises(TypeError, match="positional"):
        rules("logarithm")


def test_an_unknown_variant_is_refused(towns: MemoryGraph) -> None:
    with pytest.raises(ValueError, match="'variant' must be in"):
        MaskedLMCompleter(graph=towns, filler=TableFiller({}), variant="paper")


def test_candidates_of_one_score_come_by_their_triples_and_the_limit_cuts(make: Make) -> None:
    table = {"Albert Einstein was born in": [{"Munich": 0.5, "Ulm": 0.5, "Bern": 0.5}]}
    rows = [make(table).complete([BORN], limit)[0] for limit in (None, 2, 0)]
    assert [[str(one.triple.object) for one in row] for row in rows] == [["Q1", "Q2", "Q3"], ["Q1", "Q2"], []]


def test_many_patterns_are_completed_in_their_order(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("srtk_plugin_knowlybert.completer._BATCH", 2)
    patterns = [BORN, Pattern("nobody", "born"), Pattern("mc", "born"), Pattern("ae", "unheard"), BORN]
    rows = make().complete(patterns, 1)
    assert [len(row) for row in rows] == [1, 0, 0, 0, 1]
    assert rows[0] == rows[4]


def test_five_templates_of_a_relation_are_asked_the_best_ones(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"born": [f"{{subject}} number {n} {{object}}" for n in range(7)]}))
    table = {f"Albert Einstein number {n} _": [{"Ulm": 0.5 + n / 100}] for n in range(7)}
    assert found(make(table, templates=str(file), masks=1)) == {"Q1": 0.54}
    assert found(make(table, templates=str(file), masks=1, over="mean")) == {"Q1": 0.52}


def test_names_that_the_filler_cannot_write_are_counted(make: Make, towns: MemoryGraph, caplog: Any) -> None:
    with caplog.at_level(logging.INFO):
        make(masks=1)
    # Albert Einstein, Marie Curie and New York.
    assert "3 names have more than 1 tokens and 0 none" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO):
        make(masks=2)
    assert "tokens" not in caplog.text


@pytest.mark.parametrize(
    ("rule", "threshold", "kept"),
    [
        ("static", 0.5, {"Q1", "Q4", "Q2"}),
        ("static", 0.51, {"Q1", "Q4"}),
        ("both", 0.1, {"Q1"}),
        ("both", 0.95, set()),
        ("dynamic", 0.95, {"Q1"}),
        ("none", 0.95, {"Q1", "Q4", "Q2", "Q5", "Q3"}),
    ],
)
def test_each_threshold_cuts_by_its_own_rule(make: Make, rule: str, threshold: float, kept: set[str]) -> None:
    completer = make(stability="none", threshold=rule)
    completer._state = attrs.evolve(completer._state, threshold=threshold)
    assert set(found(completer)) == kept


def test_figures_of_a_training_count_relations_templates_and_what_was_held_out(make: Make, tmp_path: Path) -> None:
    completer = make()
    seen: list[int] = []

    def validate() -> dict[str, float]:
        seen.append(1)
        return {"mrr": 0.25}

    task = TrainingTask([], validate, tmp_path, 0, [Triple("x1", "born", "Q4")])
    figures = completer.fit(task, MaskedLMFitSettings())
    wanted = {"relations": 3, "relations with templates": 1, "templates": 2, "held_out": 1, "mrr": 0.25}
    assert figures.items() >= wanted.items()
    assert seen == [1]


def test_a_closed_completer_says_so(make: Make) -> None:
    completer = make()
    completer.close()
    with pytest.raises(DriverError, match="the completer is not open"):
        completer.complete([BORN], 1)


def test_a_relation_without_templates_is_told_once(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    completer = make({"Albert Einstein knows": [{"Ulm": 0.4}]})
    with caplog.at_level(logging.INFO):
        for relation in ("knows", "knows", "in"):
            completer.complete([Pattern("ae", relation)], 1)
    assert [row.getMessage()[:11] for row in caplog.records if "no template" in row.getMessage()] == [
        "1 relations",
        "2 relations",
    ]


def test_an_index_of_vectors_is_refused(make: Make) -> None:
    class Vectors:
        def searches_texts(self) -> bool:
            return False

    with pytest.raises(DriverError, match="the index searches vectors, not texts"):
        make(index=Vectors())


@pytest.mark.parametrize(("names", "said"), [("Q9\n", 1), ("Q8\tUlm\n\tUlm\n", 2), ("Q8\tUlm\nQ9\t \n", 2)])
def test_a_line_of_names_without_id_or_name_is_refused(make: Make, tmp_path: Path, names: str, said: int) -> None:
    file = tmp_path / "names.tsv"
    file.write_text(names)
    with pytest.raises(InputError, match=rf"names.tsv:{said}: a line has an id"):
        make(names=str(file))


def test_of_equally_popular_entities_of_a_label_the_first_by_id_is_taken(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("Q8\tRom\nQ9\tRom\n")
    table = {"Albert Einstein was born in": [{"Rom": 0.9}]}
    assert set(found(make(table, names=str(file)))) == {"Q8"}


def test_the_first_sentences_of_the_best_text_about_a_name_are_read(tmp_path: Path) -> None:
    class Hits:
        def __init__(self) -> None:
            self.asked: list[tuple[list[str], int]] = []

        def search(self, names: Sequence[str], k: int) -> Any:
            self.asked.append((list(names), k))
            texts = ["Nobody. Ann sang.", "Ann  is\nhere. She sings. She left.", "Ann is last."]
            entries = [Entry(str(n), text) for n, text in enumerate(texts)]
            return [[SimpleNamespace(entry=entry) for entry in entries] for _ in names]

    index: Any = Hits()
    assert paragraphs(index, ["Bob", "Ann", "Bob"], 2) == [
        Paragraph(),
        Paragraph("Ann is here. She sings.", "1"),
        Paragraph(),
    ]
    assert index.asked == [(["Ann", "Bob"], 10)]
    assert [one.text for one in paragraphs(index, ["Ann"], 1)] == ["Ann is here."]


def test_an_entity_without_a_triple_is_no_object_of_any(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("Q9\tParis\n")
    table = {"Albert Einstein was born in": [{"Paris": 0.9}]}
    rows = [found(make(table, names=str(file), homonyms="all", popularity=least)) for least in (0, 1, 3)]
    assert [set(row) for row in rows] == [{"Q4", "Q6", "Q9"}, {"Q4", "Q6"}, set()]


def test_the_label_of_an_entity_comes_before_its_further_names_and_its_id_stands_for_none_but_a_label() -> None:
    graph = MemoryGraph(triples=[Triple("Q1", "in", "x1")], labels={"Q1": "Ulm "})
    graph.open()
    table = TripleTable.from_triples([Triple("Q1", "in", "x1")])
    assert all_names(graph, table, {}) == {"Q1": ("Ulm",), "x1": ("x1",)}
    more = {"Q1": ["Ulm", "Ulm on  Danube"], "x1": ["Land"], "Q9": ["New"], "Q8": [" "]}
    assert all_names(graph, table, more) == {
        "Q1": ("Ulm", "Ulm on Danube"),
        "x1": ("Land",),
        "Q9": ("New",),
    }


def test_the_paper_expects_the_classes_of_a_relation_and_its_code_those_of_known_answers(tmp_path: Path) -> None:
    facts = [("ann", "lives", "bonn"), ("bob", "lives", "riga"), ("cid", "lives", "oslo"), ("dan", "lives", "rome")]
    facts += [("x", "near", town) for town in ("ulm", "dorf")]
    facts += [(town, "P31", "city") for town in ("riga", "oslo", "rome", "ulm")]
    facts += [(town, "P31", "village") for town in ("bonn", "dorf")]
    graph = MemoryGraph(triples=facts, type_relations=["P31"])
    graph.open()
    answers = []
    for variant in ("published", "code"):
        table = {"ann lives": [{"ulm": 0.5, "dorf": 0.5}]}
        one = MaskedLMCompleter(graph=graph, filler=TableFiller(table), variant=variant, masks=1)
        one.open()
        answers.append(set(found(one, Pattern("ann", "lives"))))
        one.close()
    assert answers == [{"ulm"}, {"dorf"}]


FAINT = 1e-20
"""Of its logarithm nothing is left: the least probability whose logarithm counts is 1e-12."""


def test_the_logarithm_of_a_faint_score_is_that_of_the_least_one(make: Make) -> None:
    table = {"Albert Einstein was born in": [{"Ulm": 0.9, "Bern": FAINT}]}
    completer = make(table, scale="logarithm", threshold="static", masks=1)
    for threshold, kept in ((-28.0, ["Q1", "Q3"]), (-27.0, ["Q1"]), (-0.1, [])):
        completer._state = attrs.evolve(completer._state, threshold=threshold)
        (row,) = completer.complete([BORN], None)
        assert [one.triple.object for one in row] == kept
        if len(row) == 2:
            assert [one.evidence[0].score for one in row] == [rounded(math.log(0.9)), rounded(math.log(1e-12))]


def test_a_relation_without_template_is_asked_by_its_label_and_not_by_its_id(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(json.dumps({"in": ["{subject} is in {object}"]}))
    assert found(make({"Albert Einstein born in _ .": [{"Ulm": 0.4}]}, templates=str(file))) == {"Q1": 0.4}


def test_the_known_entity_is_named_by_its_label_and_not_by_a_further_name(make: Make, tmp_path: Path) -> None:
    asked: list[list[str]] = []

    class Texts:
        def searches_texts(self) -> bool:
            return True

        def search(self, names: Sequence[str], k: int) -> Any:
            asked.append(list(names))
            return [[] for _ in names]

    file = tmp_path / "names.tsv"
    file.write_text("ae\tA. Einstein\nae\tAlbert\n")
    completer: Any = make(names=str(file), index=Texts())
    assert found(completer)["Q1"] == 0.9
    assert asked == [["Albert Einstein"]]
    assert all("Albert Einstein" in text.text for text in completer.filler.asked)


def test_the_fingerprint_is_of_contents_and_settings_and_not_of_paths_or_orders(
    make: Make, tmp_path: Path, towns: MemoryGraph
) -> None:
    @attrs.define(eq=False)
    class Named(TableFiller):
        def fingerprint(self) -> str:
            return f"filler {sorted(self.table)}"

    def mark(table: Any = ULM, **settings: Any) -> str:
        return make(filler=Named(table), **settings).fingerprint()

    def written(name: str, content: Any) -> str:
        file = tmp_path / name
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(file)

    more = {"born": TEMPLATES["born"], "in": ["{subject} is in {object}"]}
    same = [
        mark(templates=written("a.json", more)),
        mark(templates=written("b.json", dict(reversed(more.items()))), corpus=object()),
    ]
    assert same[0] == same[1]
    assert "masks=3, top=100, variant='default', types='none', homonyms='popular'" in same[0]
    assert towns.fingerprint() in same[0]
    others = [
        mark(), mark({}), mark(masks=2), mark(top=None), mark(types="seen"), mark(homonyms="all"), mark(context=1),
        mark(variant="code"), mark(names=written("names.tsv", "Q9\tNew\n")),
    ]  # fmt: skip
    assert len({same[0], *others}) == 10


def test_templates_that_are_given_are_not_mined_again(make: Make, corpus: AnnotatedCorpus, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps({"born": ["{subject} hails from {object}"]}))
    completer = make({}, corpus=corpus, templates=str(file))
    figures = completer.fit(TrainingTask([], None, tmp_path), MaskedLMFitSettings())
    assert completer._state.to_json()["templates"] == {"born": ["{subject} hails from {object}"]}
    # No answer of the graph was found, from whose scores a threshold could be learnt.
    assert "threshold" not in figures
    assert completer._state.threshold is None


PRIOR = {
    "x1 was born in": [{"Paris": 0.8, "Ulm": 0.3, "x1": 0.2}],
    "_ _ was born in Paris": [{"Marie": 0.5}, {"Curie": 0.5}],
    "_ was born in Paris": [{"x1": 0.6, "x2": 0.25}],
}


def test_the_prior_is_learnt_on_the_candidates_of_held_out_facts_that_the_rest_does_not_hold(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[Any] = []
    monkeypatch.setattr(
        "srtk_plugin_knowlybert.completer.SoftPrior.learn", lambda rows, right: learnt.append((rows, right))
    )
    completer = make(PRIOR, types="soft")
    # What has an unknown relation is passed over, before the others and between them.
    held = [Triple("x1", "born", "Q4"), Triple("ae", "absent", "Q4")]
    figures = completer.fit(TrainingTask([], None, tmp_path, 0, held), MaskedLMFitSettings(twins=None))
    [(rows, right)] = learnt
    # x1 and x2 for Paris, but not Marie Curie, who is known to be born there; Paris and Ulm for x1, but not x1 itself.
    assert right.tolist() == [True, False, True, False]
    assert rows[:, 0] == pytest.approx([math.log(p / (1 - p)) for p in (0.6, 0.25, 0.8, 0.3)], abs=1e-3)
    assert (figures["prior candidates"], figures["prior right"]) == (4, 2)


@pytest.mark.parametrize(("town", "right"), [("Paris", 1), ("Ulm", 0)])
def test_without_a_right_and_a_wrong_candidate_no_prior_is_learnt_and_that_is_told(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture, town: str, right: int
) -> None:
    completer = make({"x1 was born in": [{town: 0.8}]}, types="soft", masks=1)
    held = [Triple("x1", "born", "Q4")]
    figures = completer.fit(TrainingTask([], None, tmp_path, 0, held), MaskedLMFitSettings(twins=None))
    assert (figures["prior candidates"], figures["prior right"]) == (1, right)
    assert completer._state.prior is None
    assert f"no prior is learnt: of 1 candidates of held-out facts {right} are right" in caplog.text
