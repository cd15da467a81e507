"""What the corpora make entries of."""

from __future__ import annotations

import pytest
from srtk_plugin_index.corpora.documents import DocumentCorpus
from srtk_plugin_index.corpora.entities import EntityCorpus
from srtk_plugin_index.corpora.triples import TripleCorpus
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.testing import OracleGraph
from srtk_framework.values import DriverError, Entry, InputError, Literal, Triple

FACTS = [("Q1", "P36", "Q2"), ("Q2", "P571", Literal('"1201"^^xsd:gYear'))]


def graph(facts=FACTS, **settings) -> MemoryGraph:
    names = {"Q1": "Latvia", "Q2": "Riga", "P36": "capital", "P571": "founded"}
    made = MemoryGraph(triples=facts, labels=names, **settings)
    made.open()
    return made


def test_a_triple_is_read_by_its_labels_and_carries_itself():
    assert list(TripleCorpus(graph=graph()).read()) == [
        Entry("Q1\tP36\tQ2", "Latvia capital Riga", (Triple("Q1", "P36", "Q2"),)),
        Entry('Q2\tP571\t"1201"^^xsd:gYear', "Riga founded 1201", (Triple("Q2", "P571", FACTS[1][2]),)),
    ]


def test_relations_literals_and_the_template_can_be_chosen():
    assert [e.text for e in TripleCorpus(graph=graph(), literals=False).read()] == ["Latvia capital Riga"]
    some = TripleCorpus(graph=graph(), relations=["P571"], template="{object} ({relation} of {subject})")
    assert [e.text for e in some.read()] == ["1201 (founded of Riga)"]


def test_a_template_with_another_place_is_refused():
    with pytest.raises(InputError, match="start"):
        TripleCorpus(graph=graph(), template="{start} is").open()


def test_a_graph_that_cannot_list_its_triples_is_named():
    class Closed(OracleGraph):
        def match(self, patterns):
            raise DriverError("this graph is too large")

    with pytest.raises(DriverError, match=r"cannot be listed.*srtk graph build"):
        list(TripleCorpus(graph=Closed()).read())


def test_an_entity_is_read_by_all_its_names():
    facts = [*FACTS, ("Q2", "altLabel", Literal('"Rīga"@lv')), ("Q2", "altLabel", Literal('"Riga"@en'))]
    corpus = EntityCorpus(graph=graph(facts, aliases={"Q1": ["Latvija", "LV"]}), naming=["altLabel"])
    assert list(corpus.read()) == [Entry("Q1", "Latvia; LV; Latvija"), Entry("Q2", "Riga; Rīga")]


def test_a_corpus_of_the_same_graph_at_another_place_has_the_same_fingerprint():
    assert TripleCorpus(graph=graph()).fingerprint() == TripleCorpus(graph=graph()).fingerprint()
    assert TripleCorpus(graph=graph()).fingerprint() != TripleCorpus(graph=graph(FACTS[:1])).fingerprint()
    assert TripleCorpus(graph=graph()).fingerprint() != TripleCorpus(graph=graph(), literals=False).fingerprint()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b.txt").write_text("One.\nTwo.\n\nThree.\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.jsonl").write_text('{"id": 7, "title": "Riga", "text": "A city."}\n{"text": "x"}\n')
    (tmp_path / "notes.pdf").write_text("not read")
    (tmp_path / ".hidden.txt").write_text("not read")
    return tmp_path


@pytest.mark.parametrize(
    ("unit", "texts"),
    [
        ("file", {"b.txt": "One.\nTwo.\nThree."}),
        ("paragraph", {"b.txt#1": "One.\nTwo.", "b.txt#4": "Three."}),
        ("line", {"b.txt#1": "One.", "b.txt#2": "Two.", "b.txt#4": "Three."}),
    ],
)
def test_a_folder_is_read_file_by_file(folder, unit, texts):
    found = {entry.id: entry.text for entry in DocumentCorpus(path=str(folder), unit=unit).read()}
    assert found == {**texts, "7": "Riga\nA city.", "below/a.jsonl#2": "x"}


def test_compressed_files_are_read(tmp_path):
    import gzip

    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"Riga\n"))
    assert [entry.text for entry in DocumentCorpus(path=str(tmp_path)).read()] == ["Riga"]


def test_the_fingerprint_of_documents_minds_content_and_names_but_not_the_place(folder, tmp_path_factory):
    import shutil

    elsewhere = tmp_path_factory.mktemp("elsewhere") / "docs"
    shutil.copytree(folder, elsewhere)
    one, other = DocumentCorpus(path=str(folder)), DocumentCorpus(path=str(elsewhere))
    assert one.fingerprint() == other.fingerprint()
    (elsewhere / "b.txt").write_text("Other.")
    other.open()
    assert one.fingerprint() != other.fingerprint()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"id": "a"}', "has a `text` that is not blank"),
        ('{"text": " "}', "has a `text` that is not blank"),
        ('{"id": "", "text": "x"}', "`id` must be a text or a whole number"),
        ('{"id": true, "text": "x"}', "`id` must be a text or a whole number"),
        ('{"id": [], "text": "x"}', "`id` must be a text or a whole number"),
        ('{"title": 3, "text": "x"}', "`title` must be a text"),
        ("[1]", "object"),
    ],
)
def test_a_record_that_is_no_document_is_refused_with_its_line(tmp_path, line, sentence):
    (tmp_path / "d.jsonl").write_text(f'{{"text": "fine"}}\n{line}\n')
    with pytest.raises(InputError, match=sentence) as caught:
        list(DocumentCorpus(path=str(tmp_path / "d.jsonl")).read())
    assert "d.jsonl:2" in str(caught.value)


def test_a_folder_without_documents_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file in this folder ends in \.jsonl"):
        DocumentCorpus(path=str(tmp_path)).open()


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        ("One.\n\nTwo.\n", [("d.txt#1", "One."), ("d.txt#3", "Two.")]),
        ("\nOne.\nTwo.", [("d.txt#2", "One.\nTwo.")]),
        ("One.\n\n\nTwo.\n\nThree.\nFour.\n", [("d.txt#1", "One."), ("d.txt#4", "Two."), ("d.txt#6", "Three.\nFour.")]),
    ],
)  # fmt: skip
def test_each_paragraph_is_a_document_once(tmp_path, text, documents):
    (tmp_path / "d.txt").write_text(text)
    read = DocumentCorpus(path=str(tmp_path / "d.txt"), unit="paragraph").read()
    assert [(entry.id, entry.text) for entry in read] == documents
    assert len(list(DocumentCorpus(path=str(tmp_path / "d.txt")).read())) == bool(text)


def test_documents_have_the_same_fingerprint_before_and_after_they_are_opened(folder):
    corpus = DocumentCorpus(path=str(folder))
    before = DocumentCorpus(path=str(folder)).fingerprint()
    corpus.open()
    assert before == corpus.fingerprint()
    (folder / "b.txt").write_text("Other.")
    assert before == corpus.fingerprint() != DocumentCorpus(path=str(folder)).fingerprint()


def test_entries_of_a_graph_that_is_read_in_parts_are_those_of_the_whole(monkeypatch):
    from srtk_plugin_index.corpora import entities, triples

    whole = [list(corpus(graph=graph()).read()) for corpus in (TripleCorpus, EntityCorpus)]
    for module in (entities, triples):
        monkeypatch.setattr(module, "AT_ONCE", 1)
    assert [list(corpus(graph=graph()).read()) for corpus in (TripleCorpus, EntityCorpus)] == whole
