"""Entities of XML files are counted before they are expanded."""

from __future__ import annotations

import io

import pytest

from srtk_framework.records import check_entities
from srtk_framework.records.xml_entities import MAX_ENTITY
from srtk_framework.values import InputError

PREFIX = '<!DOCTYPE rdf [\n<!ENTITY owl "http://www.w3.org/2002/07/owl#">\n]>\n<rdf a="&owl;Class"/>\n'


def document(*entities: str, body: str = "<rdf/>") -> io.BytesIO:
    return io.BytesIO(("<!DOCTYPE rdf [\n" + "\n".join(entities) + "\n]>\n" + body).encode())


def test_prefixes_of_iris_are_accepted():
    check_entities(io.BytesIO(PREFIX.encode()), "f.rdf")


def test_a_file_without_entities_is_read_up_to_its_first_element():
    file = io.BytesIO(b"<rdf>" + b"x" * 1_000_000)
    check_entities(file, "f.rdf")
    assert file.tell() < 200_000


@pytest.mark.parametrize(("size", "refused"), [(MAX_ENTITY, False), (MAX_ENTITY + 1, True)])
def test_an_entity_may_stand_for_so_many_characters(size, refused):
    file = document(f'<!ENTITY a "{"x" * size}">')
    if refused:
        with pytest.raises(InputError, match=r"^f\.rdf:2: the entity 'a' stands for 65,537 characters"):
            check_entities(file, "f.rdf")
    else:
        check_entities(file, "f.rdf")


def test_an_entity_counts_what_its_references_stand_for():
    entities = ['<!ENTITY a0 "xxxxxxxxxx">'] + [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 9)]
    with pytest.raises(InputError, match=r"^f\.rdf:6: the entity 'a4' stands for 1"):
        check_entities(document(*entities), "f.rdf")


def test_an_entity_within_itself_is_refused():
    with pytest.raises(InputError, match=r"^f\.rdf:2: the entity 'a' stands for"):
        check_entities(document('<!ENTITY a "&a;">'), "f.rdf")


def test_a_small_entity_used_a_million_times_is_refused():
    body = "<rdf>" + "&a;" * 400_000 + "</rdf>"
    with pytest.raises(InputError, match=r"^f\.rdf:4: is not valid rdfxml"):
        check_entities(document(f'<!ENTITY a "{"x" * 60_000}">', body=body), "f.rdf")


def test_what_is_no_xml_is_refused_with_its_line():
    with pytest.raises(InputError, match=r"^f\.rdf:2: is not valid rdfxml"):
        check_entities(io.BytesIO(b"\n<rdf"), "f.rdf")
