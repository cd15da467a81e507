"""Entities of XML files are counted before they are expanded."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from srtk_plugin_local.snapshot.xml_entities import MAX_ENTITY, check_entities

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


@pytest.mark.parametrize("form", ["<rdf>{}</rdf>", '<rdf a="{}"/>', "<rdf><a>{}</a></rdf>"])
def test_an_entity_used_too_often_in_one_value_is_refused(form):
    body = form.format("&a;" * 70 + "\n" + "&a;" * 3)
    with pytest.raises(InputError, match=r"^f\.rdf:4: the entities of one value expand to more than 4,194,304 char"):
        check_entities(document(f'<!ENTITY a "{"x" * 60_000}">', body=body), "f.rdf")
    check_entities(document(f'<!ENTITY a "{"x" * 60_000}">', body=form.format("&a;" * 69)), "f.rdf")


def test_a_prefix_may_be_used_in_any_number_of_values():
    body = "<rdf>" + '<a b="&owl;Class"/>\n' * 200_000 + "</rdf>"
    check_entities(document('<!ENTITY owl "http://www.w3.org/2002/07/owl#">', body=body), "f.rdf")


HIDDEN = "<!-- " + "x" * 900_000 + " -->"
MEMORY = """
import resource, sys
from srtk_plugin_local.snapshot.xml_entities import check_entities
from srtk_framework.values import InputError
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    check_entities(open(sys.argv[1], "rb"), "f.rdf")
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "body",
    [
        '<rdf a="' + "&a;" * 2_000_000 + '"/>',
        "<rdf>" + " " * 4_000_000 + "<b a='" + "&a;" * 6000 + "'/></rdf>",
        "<rdf>" + "<b/>" * 1_000_000 + "<b>" + "&a;" * 6000 + "</b></rdf>",
        HIDDEN * 5 + "<rdf a='" + "&a;" * 6000 + "'/>",
    ],
    ids=["one tag", "a tag late in the file", "a text late in the file", "a comment before the root"],
)
def test_a_file_of_some_megabytes_is_refused_within_200_mb(tmp_path, body):
    file = tmp_path / "f.rdf"
    file.write_bytes(document(f'<!ENTITY a "{"x" * 65_000}">', body=body).read())
    done = subprocess.run([sys.executable, "-c", MEMORY, str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("f.rdf:")


def test_a_reference_split_between_two_blocks_is_counted(monkeypatch):
    monkeypatch.setattr("srtk_plugin_local.snapshot.xml_entities._BLOCK", 7)
    body = "<rdf>" + "&abcdefghijkl;" * 70 + "</rdf>"
    with pytest.raises(InputError, match=r"^f\.rdf:4: the entities of one value"):
        check_entities(document(f'<!ENTITY abcdefghijkl "{"x" * 60_000}">', body=body), "f.rdf")


def test_a_file_in_utf_16_is_refused():
    with pytest.raises(InputError, match=r"^f\.rdf: is not in UTF-8"):
        check_entities(io.BytesIO(PREFIX.encode("utf-16")), "f.rdf")


def test_what_is_no_xml_is_refused_with_its_line():
    with pytest.raises(InputError, match=r"^f\.rdf:2: is not well-formed XML"):
        check_entities(io.BytesIO(b"\n<rdf"), "f.rdf")
