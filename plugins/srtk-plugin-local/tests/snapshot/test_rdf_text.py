"""Files of RDF as the UTF-8 that the parser reads: encodings, prologs of XML, dots, and what has no end."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot import rdf_text
from srtk_plugin_local.snapshot.rdf_text import LONG_MARK, EndlessError, Utf8Input, base_of

from srtk_framework.values import InputError


def opened(folder: Path, data: bytes, **flags: Any) -> Utf8Input:
    (folder / "a").write_bytes(data)
    return Utf8Input(str(folder / "a"), **flags)


def read(folder: Path, data: bytes, size: int = 100, **flags: Any) -> str:
    with opened(folder, data, **flags) as source:
        return b"".join(iter(lambda: source.read(size), b"")).decode()


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("x/a b.ttl", "file:///a%20b.ttl"),
        ("a.ttl.gz", "file:///a.ttl"),
        ("a.ttl.ZSTD", "file:///a.ttl"),
        ("gz", "file:///gz"),
    ],
)
def test_a_file_without_a_base_has_that_of_its_name(name: str, base: str) -> None:
    assert base_of(name) == base


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"ab", "utf-8", "ab"),
        (codecs.BOM_UTF8 + "ä".encode(), "utf-8", "ä"),
        *((mark + "äb".encode(kind), kind, "äb") for mark, kind in rdf_text._MARKS[1:]),
        ("abcd".encode("utf-16-le"), "utf-16-le", "abcd"),  # without a mark, by the zeros of its first characters
        ("abcd".encode("utf-16-be"), "utf-16-be", "abcd"),
        ("ab".encode("utf-16-le"), "utf-16-le", "ab"),
        (b"a\0b", "utf-8", "a\0b"),  # too short to tell
        (b"a\0bc", "utf-8", "a\0bc"),
        (b"\0ab\0", "utf-8", "\0ab\0"),
        (b"", "utf-8", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_an_encoding_is_told_by_the_first_bytes(
    tmp_path: Path, data: bytes, encoding: str, text: str, size: int
) -> None:
    assert read(tmp_path, data, size) == text
    source = opened(tmp_path, data)
    assert (source.encoding, source.empty) == (encoding, not text)


def test_a_file_of_blanks_is_empty_and_the_declaration_of_xml_alone_names_an_encoding(tmp_path: Path) -> None:
    assert opened(tmp_path, b" \n\t").empty
    text = "<?xml version='1.0' encoding = 'latin-1' ?><a>ä</a>"
    assert opened(tmp_path, text.encode("latin-1"), xml=True).encoding == "iso8859-1"
    assert read(tmp_path, text.encode("latin-1"), xml=True) == text.replace("latin-1", "UTF-8")
    assert opened(tmp_path, text.encode(), xml=False).encoding == "utf-8"
    assert read(tmp_path, codecs.BOM_UTF8 + text.encode(), xml=True) == text.replace("latin-1", "UTF-8")
    assert opened(tmp_path, b"<?xml encoding='ascii'?><a/>", xml=True).encoding == "ascii"
    with pytest.raises(InputError, match="a: declares the encoding 'martian', which is not known; save it as UTF-8"):
        opened(tmp_path, b"<?xml encoding='martian'?><a/>", xml=True)
    with pytest.raises(InputError, match=r"a: is not in utf-16-le \(.*\); save it as UTF-8"):
        read(tmp_path, "ab".encode("utf-16") + b"\x00")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<?xml version='1.0'?><a/>", "<?xml version='1.0'?><a/>"),
        ("<!DOCTYPE a [<!ENTITY x 'say \"y\"' >]><a/>", '<!DOCTYPE a [<!ENTITY x "say &quot;y&quot;"> ]><a/>'),
        ('<!DOCTYPE a [<!ENTITY x "it\'s">]><a/>', '<!DOCTYPE a [<!ENTITY x "it\'s">]><a/>'),
        ("<!DOCTYPE a [<!ENTITY % x 'y'>]><a/>", '<!DOCTYPE a [<!ENTITY % x "y">]><a/>'),
        ("<!DOCTYPE a [<!ENTITY x 'y'><!-- a\n<!ENTITY z 'z'>\n -->]><a/>", '<!DOCTYPE a [<!ENTITY x "y">\n\n]><a/>'),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><a><!-- <!ENTITY x 'y'> --></a>", None),
        ("<a><!-- <!DOCTYPE a> --></a>", "<a><!-- <!DOCTYPE a> --></a>"),
    ],
)
def test_a_prolog_is_written_with_double_quotes_and_without_comments_beside_entities(
    tmp_path: Path, text: str, written: str | None
) -> None:
    if written is None:  # only up to the end of the declarations
        written = text.replace("x 'y'>]", 'x "y">]')
    for size in (1, 7, 100):
        assert read(tmp_path, text.encode(), size, xml=True) == written
    assert read(tmp_path, text.encode()) == text


@pytest.mark.parametrize(
    ("text", "dots"),
    [("<http://x/./y>", True), ("<http://x/../y>", True), ("<http://x/..>", True), ("<http://x/y.z/>", False)],
)
def test_dots_as_parts_of_a_path_are_noticed_where_they_are_looked_for(tmp_path: Path, text: str, dots: bool) -> None:
    for wanted in (True, False):
        with opened(tmp_path, text.encode() + b" " * 50, dots=wanted) as source:
            assert not source.has_dots
            source.read(20)
            source.read(20)
            assert source.has_dots is (dots and wanted)


@pytest.mark.parametrize(("size", "endless"), [(20, False), (21, True)])
def test_a_stretch_without_a_triple_may_have_twice_the_bytes_of_a_literal(
    tmp_path: Path, size: int, endless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdf_text, "MAX_LITERAL", 10)
    data = b"a\n" * 6 + b"b" * (size - 12)
    with opened(tmp_path, data, dots=True) as source:
        if endless:
            with pytest.raises(EndlessError, match=r"a:7: a literal, an IRI or a comment up to this line has"):
                list(iter(lambda: source.read(4), b""))
        else:
            list(iter(lambda: source.read(4), b""))
            assert source.held == size
    with opened(tmp_path, data * 9) as source:  # of lines, whose parser holds no more than a line
        assert len(source.read(1000)) == 9 * size
        assert source.held == 0
    found = iter(range(1000))
    with opened(tmp_path, data * 9, dots=True) as source:
        source.found = lambda: next(found) // 4  # a triple in 16 bytes
        assert len(b"".join(iter(lambda: source.read(4), b""))) == 9 * size
        assert source.held == 9 * size


def test_what_is_read_as_a_whole_is_read_again_and_bounded(tmp_path: Path) -> None:
    for data in (b"abcdef", "abcdef".encode("utf-16")):
        with opened(tmp_path, data) as source:
            assert source.whole(60, 10) == b"abcdef"
            assert [source.read(4), source.read(4), source.read(4)] == [b"abcd", b"ef", b""]
        with opened(tmp_path, data) as source, pytest.raises(InputError, match="a: is larger than 0 MB, of which 0 MB"):
            source.whole(59, 10)


def test_turtle_alone_is_read_anew_with_marks_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdf_text, "MAX_LITERAL", 30)
    text = '<a> <b> "' + "x" * 31 + '", "short" .'
    with opened(tmp_path, text.encode(), dots=True) as source:
        source.found = found = iter(range(99)).__next__
        source.read(5)
        assert not source.is_short
        assert not source.shorten("rdfxml")
        assert source.shorten("turtle")
        assert (source.is_short, source.found) == (True, found)
        assert b"".join(iter(lambda: source.read(9), b"")).decode() == f'<a> <b> "{LONG_MARK}", "short" .'
        assert not source.shorten("turtle")
    with opened(tmp_path, b'<a> <b> "' + b"x" * 90) as source:
        assert source.shorten("trig")
        with pytest.raises(EndlessError, match=r"a:1: a literal"):
            list(iter(lambda: source.read(9), b""))


@pytest.mark.parametrize(
    ("data", "triples", "deepest"),
    [
        (b"((((((((", 1, 8),
        (b"[[([(((((((([)](", 1, 12),  # 8 and 4
        (b"(((())))((((((((", 1, 8),
        (b"((((((((abc(((de((((((((", 1, 19),
        (b"((((((((abcd((ef((((((((", 1, 8),  # two in eight bytes are no more than lists have
        (b"((((((((((((((((", 0, 0),  # no triple between them, as in a literal
    ],
)
def test_lists_that_nest_too_deep_are_refused(
    tmp_path: Path, data: bytes, triples: int, deepest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(most: int) -> str:
        monkeypatch.setattr(rdf_text, "MAX_LISTS", most)
        with opened(tmp_path, data, dots=True) as source:
            counts = iter(range(1, 99))
            source.found = lambda: triples * next(counts)
            return b"".join(iter(lambda: source.read(8), b"")).decode()

    assert end(deepest) == data.decode()
    if deepest:
        with pytest.raises(InputError, match=rf"a:1: lists nest deeper than {deepest - 1} levels; flatten them"):
            end(deepest - 1)
