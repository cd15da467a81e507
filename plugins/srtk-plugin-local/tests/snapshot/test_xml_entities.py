"""Entities of XML files are counted before they are expanded."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from srtk_plugin_local.snapshot import xml_entities
from srtk_plugin_local.snapshot.limits import MAX_ELEMENTS
from srtk_plugin_local.snapshot.xml_entities import MAX_DOCTYPE, MAX_ENTITY, check_entities

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


@pytest.mark.parametrize(
    ("start", "said"), [(b"<rd\0f/>", "is not in UTF-8; save"), (b"<rdf\0/>", "is not well-formed XML")]
)
def test_one_of_the_first_four_bytes_is_zero_in_utf_16(start, said):
    with pytest.raises(InputError, match=rf"^f\.rdf(:1)?: {said}"):
        check_entities(io.BytesIO(start), "f.rdf")


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_the_first_element_stands_within_a_megabyte_where_entities_are_declared(more, refused):
    assert MAX_DOCTYPE == 2**20
    head, root = b'<!DOCTYPE rdf [<!ENTITY a "x">]>\n<!-- ', b" --><rdf/>"
    file = io.BytesIO(head + b"x" * (MAX_DOCTYPE - len(head) - len(root) + more) + root)
    if refused:
        with pytest.raises(InputError, match=r"^f\.rdf: has no element within its first 1,048,576 bytes; correct"):
            check_entities(file, "f.rdf")
    else:
        check_entities(file, "f.rdf")


@pytest.mark.parametrize(
    "declared",
    [
        f'<!ENTITY % p "{"x" * (MAX_ENTITY + 1)}">',  # a parameter
        '<!ENTITY a SYSTEM "a.xml">',  # of another file, which is not read
        f'<!ENTITY a "x"><!ENTITY a "{"x" * (MAX_ENTITY + 1)}">',  # the first declaration counts
        '<!ENTITY a "&#60;&amp;">',
        f'<!ENTITY a "&amp;{"x" * (MAX_ENTITY - 5)}">',  # a reference to what nobody declares is the text that it is
    ],
)
def test_entities_that_stand_for_no_text_of_the_file_are_not_counted(declared):
    check_entities(document(declared), "f.rdf")


@pytest.mark.parametrize(("levels", "refused"), [(MAX_ELEMENTS, False), (MAX_ELEMENTS + 1, True)])
def test_elements_nest_up_to_a_number_of_levels_where_the_depth_is_checked(levels, refused):
    text = b"<a><b/>" * (levels - 2) + b"<a>\n<a>" + b"</a>" * levels  # beside one another they are no levels
    check_entities(io.BytesIO(text), "f.rdf")
    if refused:
        with pytest.raises(InputError, match=r"^f\.rdf:2: elements nest deeper than 1,000 levels; flatten them"):
            check_entities(io.BytesIO(text), "f.rdf", depth=True)
    else:
        check_entities(io.BytesIO(text), "f.rdf", depth=True)


@pytest.mark.parametrize(("count", "refused"), [(3, False), (4, True)])
def test_a_reference_without_a_declaration_is_one_character(monkeypatch, count, refused):
    monkeypatch.setattr(xml_entities, "MAX_TEXT", 3)
    file = document('<!ENTITY a "x">', body="<rdf>" + "&amp;&lt;" * (count // 2) + "&amp;" * (count % 2) + "</rdf>")
    if refused:
        with pytest.raises(InputError, match=r"^f\.rdf:4: the entities of one value expand to more than 3 characters"):
            check_entities(file, "f.rdf")
    else:
        check_entities(file, "f.rdf")


@pytest.mark.parametrize(("size", "counted"), [(999, True), (1000, False)])
def test_a_name_of_an_entity_that_is_cut_is_held_up_to_a_length(size, counted):
    count = xml_entities._Expansion("f.rdf", {"x" * size: xml_entities.MAX_TEXT + 1})
    count.add(b"<rdf>\n&" + b"x" * size)
    if counted:
        with pytest.raises(InputError, match=r"^f\.rdf:2: the entities of one value"):
            count.add(b";</rdf>")
    else:
        count.add(b";</rdf>")


def test_what_is_no_xml_is_refused_with_its_line():
    with pytest.raises(InputError, match=r"^f\.rdf:2: is not well-formed XML"):
        check_entities(io.BytesIO(b"\n<rdf"), "f.rdf")
