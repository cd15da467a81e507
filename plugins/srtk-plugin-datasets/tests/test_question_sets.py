"""Question sets: files of the same shape as the real ones, and the real ones where they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_datasets.files import sample
from srtk_plugin_datasets.metaqa import MetaQA
from srtk_plugin_datasets.pathquestion import PathQuestion
from srtk_plugin_datasets.records import Records

from srtk_framework.values import InputError, Link, Question, Step, Triple

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data"))

FILMS = ("Dusk|directed_by|Ann Lee", "Dusk|has_genre|Drama", "Dawn|directed_by|Ann Lee", "Dawn|has_genre|War")
ASKED = "which genres have the films whose director made [Dusk]\tDrama|War"
KIND = "movie_to_director_to_movie_to_genre"

Make = Callable[..., str]


@pytest.fixture
def metaqa(tmp_path: Path) -> Make:
    def make(*lines: str, kinds: tuple[str, ...] = (KIND,), hops: int = 3, graph: tuple[str, ...] = FILMS) -> str:
        folder = tmp_path / f"{hops}-hop"
        folder.mkdir(exist_ok=True)
        (folder / "qa_dev.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "qa_dev_qtype.txt").write_text("\n".join(kinds) + "\n", encoding="utf-8")
        if graph:
            (tmp_path / "kb.txt").write_text("\n".join(graph) + "\n", encoding="utf-8")
        return str(tmp_path)

    return make


@pytest.fixture
def people(tmp_path: Path) -> Make:
    def make(*lines: str, name: str = "PQ-2H.txt", graph: str = "2H-kb.txt") -> str:
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        facts = ("ann\tspouse\tbob", "ann\tspouse\tcid", "bob\tnation\tperu", "cid\tnation\tchad_(state)")
        (tmp_path / graph).write_text("\n".join(facts) + "\n", encoding="utf-8")
        return str(tmp_path)

    return make


def test_metaqa_gives_text_link_answers_path_and_triples(metaqa: Make) -> None:
    (question,) = MetaQA(path=metaqa(ASKED), hops=3).read()
    assert question.id == "metaqa-3-dev-1"
    assert question.text == "which genres have the films whose director made Dusk"
    assert question.links == (Link("Dusk", 1.0, 48, 52, "Dusk"),)
    assert question.answers == ("Drama", "War")
    assert question.gold_paths == ((Step("directed_by"), Step("directed_by", True), Step("has_genre")),)
    assert question.gold_triples == (
        Triple("Dusk", "directed_by", "Ann Lee"),
        Triple("Dawn", "directed_by", "Ann Lee"),
        Triple("Dawn", "has_genre", "War"),
        Triple("Dusk", "has_genre", "Drama"),
    )
    assert question.extra == {"topic_entity": "Dusk", "type": KIND}


def test_raw_text_comes_without_links_but_with_the_gold(metaqa: Make) -> None:
    (question,) = MetaQA(path=metaqa(ASKED), hops=3, given=False).read()
    assert question.links == ()
    assert question.gold_triples
    assert question.extra["topic_entity"] == "Dusk"


def test_only_answers_that_the_graph_reaches_are_kept_on_request(metaqa: Make) -> None:
    folder = metaqa(ASKED, "what is [Noon] like\tCalm", kinds=(KIND, KIND), graph=FILMS[:3])
    questions = list(MetaQA(path=folder, hops=3, answers="reachable").read())
    assert [question.answers for question in questions] == [("Drama",), ()]
    assert [question.answers for question in MetaQA(path=folder, hops=3).read()] == [("Drama", "War"), ("Calm",)]


def test_only_questions_of_which_the_graph_reaches_all_answers_are_kept_on_request(metaqa: Make) -> None:
    lines = (ASKED, "what is [Noon] like\tCalm", "which genres does [Dusk] lead to\tDrama")
    folder = metaqa(*lines, kinds=(KIND, KIND, KIND), graph=FILMS[:3])
    assert [question.id for question in MetaQA(path=folder, hops=3, answers="complete").read()] == ["metaqa-3-dev-3"]


def test_questions_of_all_hops_follow_one_another(metaqa: Make) -> None:
    for hops, kind in ((1, "movie_to_genre"), (2, "movie_to_director_to_movie"), (3, KIND)):
        folder = metaqa("what about [Dusk]\tDrama", kinds=(kind,), hops=hops)
    questions = list(MetaQA(path=folder, hops="all").read())
    assert [question.id for question in questions] == ["metaqa-1-dev-1", "metaqa-2-dev-1", "metaqa-3-dev-1"]
    assert [len(question.gold_paths[0]) for question in questions] == [1, 2, 3]


def test_gold_triples_can_be_left_out_where_there_is_no_graph(metaqa: Make) -> None:
    folder = metaqa(ASKED, graph=())
    (question,) = MetaQA(path=folder, hops=3, gold_triples=False).read()
    assert question.gold_triples is None
    with pytest.raises(InputError, match=r"no kb.txt and no kb_\*.txt here.*gold_triples: false"):
        list(MetaQA(path=folder, hops=3).read())


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("actor_to_movie", (Step("starred_actors", True),)),
        ("movie_to_tags", (Step("has_tags"),)),
        ("tag_to_movie", (Step("has_tags", True),)),
        ("movie_to_imdbvotes", (Step("has_imdb_votes"),)),
    ],
)
def test_a_question_type_is_its_gold_path(metaqa: Make, kind: str, path: tuple[Step, ...]) -> None:
    (question,) = MetaQA(path=metaqa("what about [Dusk]\tX", kinds=(kind,), hops=1), hops=1).read()
    assert question.gold_paths == (path,)


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        ("no tab [Dusk]", KIND, r"qa_dev.txt:2: expected a question, a tab and answers"),
        ("no topic\tX", KIND, r"qa_dev.txt:2: expected one topic entity in square brackets, found 0"),
        ("[Dusk] and [Dawn]\tX", KIND, r"qa_dev.txt:2: expected one topic entity in square brackets, found 2"),
        (ASKED, "movie_to_budget", r"qa_dev_qtype.txt:2: unknown entity type 'budget'"),
        (ASKED, "actor_to_director", r"qa_dev_qtype.txt:2: no relation leads from 'actor' to 'director'"),
        (ASKED, "movie_to_actor", r"qa_dev_qtype.txt:2: type 'movie_to_actor' has 1 hops, not 3"),
    ],
)
def test_a_malformed_line_of_metaqa_is_refused_with_its_place(metaqa: Make, line: str, kind: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(MetaQA(path=metaqa(ASKED, line, kinds=(KIND, kind)), hops=3).read())


def test_questions_and_types_must_be_as_many(metaqa: Make) -> None:
    with pytest.raises(InputError, match=r"qa_dev.txt:2: .* must have the same number of lines"):
        list(MetaQA(path=metaqa(ASKED, ASKED), hops=3).read())


def test_a_malformed_fact_is_refused_with_its_place(metaqa: Make) -> None:
    with pytest.raises(
        InputError, match=r"kb.txt:2: expected subject, relation and object with '\|' between them, not"
    ):
        list(MetaQA(path=metaqa(ASKED, graph=(FILMS[0], "Dusk|x")), hops=3).read())


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2-hop.qa_dev.txt: no such file"):
        list(MetaQA(path=str(tmp_path)).read())
    with pytest.raises(InputError, match=r"3H-kb.txt: no such file"):
        list(PathQuestion(path=str(tmp_path), hops=3).read())


NATION = "what is the nation of ann 's mate ?\tperu(peru/chad_(state)/)\tann#spouse#bob#nation#peru#<end>#peru"


def test_pathquestion_gives_every_instance_that_ends_in_an_answer(people: Make) -> None:
    (question,) = PathQuestion(path=people(NATION)).read()
    assert question.id == "pq-2-1"
    assert question.links == (Link("ann", 1.0, 22, 25, "ann"),)
    assert question.answers == ("peru", "chad_(state)")
    assert question.gold_paths == ((Step("spouse"), Step("nation")),)
    assert question.gold_triples == (
        Triple("ann", "spouse", "bob"),
        Triple("ann", "spouse", "cid"),
        Triple("bob", "nation", "peru"),
        Triple("cid", "nation", "chad_(state)"),
    )


def test_a_name_with_brackets_may_be_the_first_answer(people: Make) -> None:
    line = NATION.replace("peru(peru/chad_(state)/)", "chad_(state)(chad_(state)/peru/)")
    (question,) = PathQuestion(path=people(line)).read()
    assert question.answers == ("chad_(state)", "peru")


def test_the_large_set_ends_its_paths_without_a_mark(people: Make) -> None:
    line = " what nation ?\tperu(peru/)\tann#spouse#bob#nation#peru#peru"
    folder = people(line, name="PQL-2H.txt", graph="PQL2-KB.txt")
    (question,) = PathQuestion(path=folder, large=True).read()
    assert question.id == "pql-2-1"
    assert question.gold_paths == ((Step("spouse"), Step("nation")),)
    assert question.links == (Link("ann", name="ann"),)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("only text", r"PQ-2H.txt:2: expected question, answers and path with tabs between them, found 1 parts"),
        ("q\tperu(peru/)\tann#spouse#bob", r"PQ-2H.txt:2: expected a path of 2 hops"),
        ("q\tperu\tann#spouse#bob#nation#peru", r"PQ-2H.txt:2: expected answers as first\(first/second/\)"),
    ],
)
def test_a_malformed_line_of_pathquestion_is_refused_with_its_place(people: Make, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(PathQuestion(path=people(NATION, line)).read())


def test_records_can_be_stripped_of_their_links(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "a", "question": "Who?", "question_entities": ["X"]}\n', encoding="utf-8")
    assert next(iter(Records(path=str(path)).read())).links == (Link("X"),)
    stripped = next(iter(Records(path=str(path), given=False).read()))
    assert stripped == Question("a", "Who?", gold_links=(Link("X"),)), "they become gold links"


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 5))
def test_a_smaller_limit_takes_a_part_of_a_larger_one_in_order(a: int, b: int, seed: int) -> None:
    items = [str(i) for i in range(20)]
    small, large = (list(sample(items, str, limit, seed)) for limit in sorted((a, b)))
    assert len(small) == min(a, b, 20)
    assert [item for item in large if item in set(small)] == small
    assert [item for item in items if item in set(large)] == large


def test_without_a_seed_the_first_questions_are_taken() -> None:
    assert list(sample("abc", str, 2, None)) == ["a", "b"]


def sets(folder: str) -> str:
    if not (DATA / folder).is_dir():
        pytest.skip(f"no {folder} in the data folder; set SRTK_DATA")
    return str(DATA / folder)


@pytest.mark.parametrize(("hops", "count"), [(1, 9992), (2, 14872), (3, 14274)])
def test_the_real_metaqa_is_read_whole(hops: int, count: int) -> None:
    questions = list(MetaQA(path=sets("metaqa"), hops=hops, gold_triples=False).read())  # type: ignore[arg-type]
    assert len(questions) == count
    assert len({question.id for question in questions}) == count
    for question in questions:
        (link,) = question.links
        assert question.text[link.start : link.end] == link.entity
        assert question.answers
        assert len(question.gold_paths[0]) == hops  # type: ignore[index]
        assert "[" not in question.text


@pytest.mark.parametrize(("hops", "count"), [(2, 1908), (3, 5198)])
def test_the_real_pathquestion_has_the_answers_that_its_gold_triples_lead_to(hops: int, count: int) -> None:
    questions = list(PathQuestion(path=sets("pathquestion"), hops=hops).read())  # type: ignore[arg-type]
    assert len(questions) == count
    for question in questions:
        (link,) = question.links
        assert question.text[link.start : link.end] == link.entity
        nodes = {node for triple in question.gold_triples or () for node in (triple.subject, triple.object)}
        assert {*question.answers, link.entity} <= nodes  # type: ignore[misc]
