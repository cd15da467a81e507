"""Facts hidden by their hashes, as ``webnlg`` and ``lama`` ask for them and `srtk datasets graph` leaves them out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_datasets.hidden_facts import hidden_facts, questions_of
from srtk_plugin_datasets.lama import LAMA, lama_facts
from srtk_plugin_datasets.webnlg import WebNLG, webnlg_facts

from srtk_framework.cli import main
from srtk_framework.values import InputError, Pattern, Triple

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / "../shared/data"))
names = st.sampled_from("abcdef")
facts = st.sets(st.builds(Triple, names, st.sampled_from("pq"), names), max_size=30)

RELATIONS = (
    '{"relation": "P17", "template": "[X] is located in [Y] .", "label": "country"}\n'
    '{"relation": "P36", "template": "The capital of [X] is [Y] .", "label": "capital"}\n'
)
COUNTRIES = [("Riga", "Latvia"), ("Oslo", "Norway"), ("Bonn", "Germany"), ("Rome", "Italy"), ("Rome", "Italy")]


def lama(folder: Path, rows: list[tuple[str, str]] = COUNTRIES) -> str:
    place = folder / "pararel" / "trex_lms_vocab"
    place.mkdir(parents=True)
    (folder / "relations.jsonl").write_text(RELATIONS)
    lines = (f'{{"sub_label": "{one}", "obj_label": "{other}", "uuid": "u"}}\n' for one, other in rows)
    (place / "P17.jsonl").write_text("".join(lines))
    return str(folder)


def webnlg(folder: Path) -> str:
    place = folder / "en" / "train"
    place.mkdir(parents=True)
    rows = [f"<mtriple>{one} | country | {other}</mtriple>" for one, other in [*COUNTRIES, ("Riga", "7")]]
    text = f"<entry><modifiedtripleset>{''.join(rows)}</modifiedtripleset><lex>All.</lex></entry>"
    (place / "City.xml").write_text(f"<benchmark><entries>{text}</entries></benchmark>")
    return str(folder)


def written(file: Path) -> set[tuple[str, ...]]:
    return {tuple(line.split("\t")) for line in file.read_text().splitlines()}


def asked(dataset: Any) -> set[tuple[str, ...]]:
    return {tuple(one.pattern.filled(end)) for one in dataset.read() for end in one.answers}


@given(facts, st.floats(0, 1), st.integers(0, 3))
def test_a_share_is_hidden_whatever_the_order_and_less_is_a_part_of_more(some: set[Triple], share: float, seed: int):
    hidden = hidden_facts(some, share, seed)
    assert len(hidden) == round(share * len(some))
    assert set(hidden) <= some
    assert hidden == hidden_facts(sorted(some, reverse=True), share, seed)
    assert set(hidden_facts(some, share / 2, seed)) <= set(hidden)


@given(facts, st.sampled_from(["object", "subject", "both"]))
def test_each_hidden_fact_is_an_answer_at_each_open_end(some: set[Triple], ends: Any):
    questions = list(questions_of(sorted(some), ends))
    pairs = [(one.pattern, end) for one in questions for end in one.answers or ()]
    assert len({one.pattern for one in questions}) == len(questions)
    assert sorted(pattern.filled(end) for pattern, end in pairs if pattern) == sorted(
        [fact for fact in some for _ in range(2 if ends == "both" else 1)]
    )


def test_seeds_hide_different_facts():
    some = [Triple(f"s{n}", "p", "o") for n in range(100)]
    assert len({tuple(hidden_facts(some, 0.5, seed)) for seed in range(5)}) == 5


def test_labels_are_ids_and_equal_ones_are_one_entity(tmp_path):
    folder = lama(tmp_path, [("Heroes  Day", "Riga"), (' \\"Heroes Day\\"', "Riga"), ("Riga", "Latvia")])
    assert lama_facts(Path(folder)) == [Triple("Heroes Day", "P17", "Riga"), Triple("Riga", "P17", "Latvia")]


def test_lama_asks_for_objects_of_half_of_the_facts(tmp_path):
    questions = list(LAMA(path=lama(tmp_path)).read())
    assert len(questions) == 2  # one of five lines is there twice
    assert all(one.pattern == Pattern(one.pattern.subject, "P17") for one in questions)
    assert len(list(LAMA(path=str(tmp_path), ends="both", limit=3).read())) == 3


def test_the_candidates_of_lama_are_the_objects_of_the_relation_that_the_graph_does_not_give(tmp_path):
    rows = [("Rome", "Italy"), ("Rome", "Vatican"), ("Oslo", "Norway"), ("Riga", "Latvia"), ("Bonn", "Germany")]
    path = lama(tmp_path, rows)
    questions = list(LAMA(path=path, hidden=0.4, ends="both", candidates=True).read())
    hidden = asked(LAMA(path=path, hidden=0.4))
    assert ("Rome", "P17", "Italy") in hidden
    assert ("Rome", "P17", "Vatican") not in hidden
    of = {one.pattern: one.candidates for one in questions}
    assert of[Pattern("Rome", "P17")] == ("Germany", "Italy", "Latvia", "Norway")
    assert of[Pattern(None, "P17", "Italy")] == ("Bonn", "Oslo", "Riga", "Rome")
    assert all(set(one.answers) <= set(one.candidates) for one in questions)
    assert not any(one.candidates for one in LAMA(path=path).read())


def test_the_graph_of_lama_is_what_the_questions_lack(tmp_path, capsys):
    folder = lama(tmp_path / "lama")
    files = {name: tmp_path / name for name in ("graph.tsv", "hidden.tsv", "labels.tsv")}
    flags = ["--out", str(files["graph.tsv"]), "--hidden", str(files["hidden.tsv"])]
    assert main(["datasets", "graph", "lama", folder, *flags, "--labels", str(files["labels.tsv"]), "--seed", "4"]) == 0
    assert "2 facts; 2 others are asked for" in capsys.readouterr().out
    known, hidden = written(files["graph.tsv"]), written(files["hidden.tsv"])
    assert hidden == asked(LAMA(path=folder, seed=4))
    assert not known & hidden
    assert known | hidden == {(one, "P17", other) for one, other in COUNTRIES}
    labels = written(files["labels.tsv"])
    assert {("P17", "country"), ("Riga", "Riga"), ("Italy", "Italy")} <= labels
    assert len(labels) == 1 + 8  # nothing has a capital


def test_the_graph_of_webnlg_is_written_whole_or_without_what_is_hidden(tmp_path, capsys):
    folder = webnlg(tmp_path / "webnlg")
    out, hidden = tmp_path / "graph.tsv", tmp_path / "hidden.tsv"
    command = ["datasets", "graph", "webnlg", folder, "--out", str(out), "--hidden", str(hidden), "--share", "0.5"]
    assert main(command) == 0
    assert "hidden by the list alone: 2 triples" in capsys.readouterr().out
    whole = written(out)
    assert len(whole) == 5
    assert written(hidden) == asked(WebNLG(path=folder, hidden=0.5)) < whole
    assert main([*command, "--without-hidden"]) == 0
    assert "hidden: 2 triples" in capsys.readouterr().out
    assert written(out) == whole - written(hidden)


def test_texts_of_webnlg_that_state_a_hidden_triple_are_left_out_if_asked(tmp_path):
    place = tmp_path / "webnlg" / "en" / "train"
    place.mkdir(parents=True)
    entries = "".join(
        f"<entry><modifiedtripleset><mtriple>{one} | country | {other}</mtriple></modifiedtripleset>"
        f"<lex>{one} is in {other}.</lex><lex>{other} has {one}.</lex></entry>"
        for one, other in COUNTRIES
    )
    (place / "City.xml").write_text(f"<benchmark><entries>{entries}</entries></benchmark>")
    files = {name: tmp_path / name for name in ("graph.tsv", "hidden.tsv", "texts.jsonl")}
    command = ["datasets", "graph", "webnlg", str(tmp_path / "webnlg"), "--share", "0.5"]
    command += ["--out", str(files["graph.tsv"]), "--hidden", str(files["hidden.tsv"])]
    assert main([*command, "--texts", str(files["texts.jsonl"])]) == 0
    assert len(files["texts.jsonl"].read_text().splitlines()) == 2 * len(COUNTRIES)
    assert main([*command, "--texts", str(files["texts.jsonl"]), "--texts-without-hidden"]) == 0
    texts = [json.loads(line) for line in files["texts.jsonl"].read_text().splitlines()]
    stated = {tuple(triple) for text in texts for triple in text["triples"]}
    assert stated == {(one, "country", other) for one, other in COUNTRIES} - written(files["hidden.tsv"])
    assert len(written(files["graph.tsv"])) == 4  # the graph itself stays whole


def test_subjects_of_webnlg_are_asked_for_too_and_literals_never(tmp_path):
    questions = list(WebNLG(path=webnlg(tmp_path), hidden=1.0).read())
    assert len(questions) == 8
    assert not any('"7"' in answer for one in questions for answer in one.answers)


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("relations.jsonl", "", r"P17\.jsonl: relations\.jsonl has no relation 'P17'"),
        ("relations.jsonl", RELATIONS + RELATIONS, r"relations\.jsonl:3: relation 'P17' is there twice"),
        ("relations.jsonl", '{"relation": "P17"}\n', r"relations\.jsonl:1: field 'label' is missing"),
        ("pararel/trex_lms_vocab/P17.jsonl", '{"sub_label": "a"}\n', r"P17\.jsonl:1: field 'obj_label' is missing"),
        (
            "pararel/trex_lms_vocab/P17.jsonl",
            '{"sub_label": "a", "obj_label": " "}\n',
            r"P17\.jsonl:1: field 'obj_label' must be a label",
        ),
        ("pararel/trex_lms_vocab/P17.jsonl", "[]\n", r"P17\.jsonl:1: "),
    ],
)
def test_a_wrong_line_of_lama_is_refused_with_its_place(tmp_path, file, text, error):
    folder = lama(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError, match=error):
        list(LAMA(path=folder).read())


def test_folders_of_other_sets_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"relations\.jsonl: no such file"):
        list(LAMA(path=str(tmp_path)).read())
    (tmp_path / "relations.jsonl").write_text(RELATIONS)
    with pytest.raises(InputError, match=r"no file of facts such as pararel/trex_lms_vocab/P19\.jsonl"):
        list(LAMA(path=str(tmp_path)).read())
    with pytest.raises(InputError, match="no XML of the splits train, dev here"):
        list(WebNLG(path=str(tmp_path)).read())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["rog", "--share", "0.5"], "nothing is hidden in rog"),
        (["webnlg", "--texts-without-hidden"], "name a file as --texts"),
        (["lama", "--share", "0"], "--share: 0 is no share"),
        (["lama", "--texts", "t"], "the format lama has neither"),
        (["lama"], "give one folder"),
    ],
)
def test_flags_that_do_not_fit_a_format_are_refused(tmp_path, capsys, arguments, error):
    file = tmp_path / "a.jsonl"
    file.write_text("{}\n")
    kind, *flags = arguments
    assert main(["datasets", "graph", kind, str(file), "--out", str(tmp_path / "g.tsv"), *flags]) == 2
    assert error in capsys.readouterr().err


@pytest.mark.skipif(not (DATA / "lama").is_dir(), reason="no lama in the data folder; SRTK_DATA names another one")
def test_half_of_the_facts_of_lama_at_hand_are_asked_for():
    found = lama_facts(DATA / "lama")
    questions = list(LAMA(path=str(DATA / "lama")).read())
    assert sum(len(one.answers) for one in questions) == round(len(found) / 2)
    assert {one.pattern.relation for one in questions} == {fact.relation for fact in found}


@pytest.mark.skipif(not (DATA / "webnlg").is_dir(), reason="no webnlg in the data folder; SRTK_DATA names another one")
def test_a_triple_of_webnlg_is_hidden_and_asked_for_at_both_ends():
    found = webnlg_facts(DATA / "webnlg", ("train", "dev"))
    assert len(found) == 2743
    questions = list(WebNLG(path=str(DATA / "webnlg")).read())
    assert sum(len(one.answers) for one in questions) == 2 * round(0.3 * len(found))
