"""The header of a table: whether there is any, and how the table is read by its first rows."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_local.snapshot import header
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.header import Plan, is_rule, plan_facts, plan_fixed
from srtk_plugin_local.snapshot.input_report import FileReport

from srtk_framework.values import InputError


def planned(text: str, certain: bool = False, name: str = "a.csv", **flags: Any) -> tuple[Plan, FileReport]:
    """Plan a file by its lines; certain headings come from a container."""
    rows = [(number, line.split(",")) for number, line in enumerate(text.splitlines(), 0 if certain else 1)]
    report = FileReport(name, "csv", separator=",")
    return plan_facts(BuildSettings(("a.csv",), **flags))(rows, report), report


def facts(text: str, **more: Any) -> tuple[tuple[int, ...], int] | None:
    """Return the places of subject, relation and object and the first line; None for a sheet."""
    plan, _ = planned(text, **more)
    return None if plan.titles else (plan.picked, plan.start)


def sheet(text: str, **more: Any) -> tuple[tuple[str, ...], int] | None:
    """Return headings and first line of a sheet; None for facts."""
    plan, _ = planned(text, **more)
    assert not plan.titles or plan.width == len(plan.titles) == len(plan.picked)
    return (plan.titles, plan.start) if plan.titles else None


# Facts or entities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("subject,relation,object\na,r,b\n", ((0, 1, 2), 2)),
        ("a,r,b\nb,r,c\n", ((0, 1, 2), 1)),
        ("x,from,type,to\n1,a,r,b\n", ((1, 2, 3), 2)),
        ("id,source,type,target\n1,a,r,b\n", ((1, 2, 3), 2)),
        ("id,from,type,to\n1,a,r,b\n", None),  # a journey with a number
        ("id,source,type,to\n1,a,r,b\n", ((1, 2, 3), 2)),  # one of the ends is of an edge alone
        ("from,type,to\na,r,b\n", ((0, 1, 2), 2)),
        ("source,target,type\na,b,Directed\nb,c,\n", None),  # a direction is no relation
        ("source,target,type\na,b,Directed\nb,c,likes\n", ((0, 2, 1), 2)),
        ("source,type,target\n", ((0, 1, 2), 2)),
        ("id,from,type,target\n1,a,r,b\n", ((1, 2, 3), 2)),
        ("type id,from,to\nr,a,b\n", ((1, 0, 2), 2)),  # of three columns none is left for a number
        ("source,target,type\na,b\nb,c,likes\nc,d,likes\n", ((0, 2, 1), 2)),
        ("source,target,type\na,b,Directed\nb,c,Undirected\nc,d,Mutual\nd,e,Unspecified\ne,f,\n", None),
        ("source,type,target\na,b\nc,d\n", None),  # most rows have two columns
        ("from,type,to\na,r,b,x\nc,r,d,x\n", ((0, 1, 2), 2)),  # known headings need not be as many as the cells
    ],
)
def test_known_headings_make_facts(text: str, found: Any) -> None:
    assert facts(text) == found


def test_certain_headings_of_a_container_are_no_row() -> None:
    assert facts("a,b,c\n1,r,2\n", certain=True) == ((0, 1, 2), 1)
    assert facts("a,b,c", certain=True) == ((0, 1, 2), 1)
    assert sheet("a,b\n1,x\n2,y\n", certain=True) == (("a", "b"), 1)
    assert sheet("a,b,c,d", certain=True) == (("a", "b", "c", "d"), 1)
    assert facts("subject,relation,object\na,r,b\n", certain=True) == ((0, 1, 2), 1)
    assert facts("object,relation,subject\na,r,b\n", certain=True, header=False) == ((2, 1, 0), 1)
    assert facts("a,b,c\n1,r,2\n", certain=True, header=False, columns=("3", "2", "1")) == ((2, 1, 0), 1)
    assert sheet("a,b,c\n1,r,2\n", certain=True, header=False, id="1") == (("a", "b", "c"), 1)
    assert facts("a,,\n1,r,2\n3,r,4\n", certain=True) == ((0, 1, 2), 1)  # few headings, and yet no title
    assert facts("a,,b\n,r,2\n3,r,4\n", certain=True) == ((0, 1, 2), 1)  # gaps, and yet no second line
    for text in ("a,b,c\n1,r,2\n", "a,b\n1,x\n2,y\n"):
        assert planned(text, certain=True)[1].header == ()


@pytest.mark.parametrize(("count", "first"), [(4, False), (5, True)])
def test_certain_headings_are_no_sign_of_a_relation(count: int, first: bool) -> None:
    assert facts("c,a,b\n" + rows_of(["knows"] * count, 2), certain=True) == ((1, 0, 2) if first else (0, 1, 2), 1)


REPEATED = "name,what,city\n" + "".join(f"p{n},{('born_in', 'lives_in')[n % 2]},c{n}\n" for n in range(6))


@pytest.mark.parametrize(
    ("text", "is_sheet"),
    [
        (REPEATED, False),  # few values that come again and again are relations
        ("\n".join(REPEATED.splitlines()[:-1]), True),
        (REPEATED.replace("p5,lives_in", "p5,died_in"), True),
        (REPEATED.replace("born_in", "Born in"), True),
        (REPEATED.replace("born_in", "Born_In"), False),
        (REPEATED.replace("born_in", "born"), False),
        ("name,club,age\nname,x,3\nBo,y,4\n", False),  # the heading comes again in its column
        ("who,club,age\nAda,x,3\nBo,y,4\n", True),  # the numbers below are headed by a word
        ("who,club,place\nAda,x,p\nBo,y,q\n", False),
        ("name,club,place\n", False),
        ("a:ID,b,c\n1,2,3\n", True),
        # Numbers below words, but the first and last column share them, and a relation stands between.
        ("who,does,whom\n" + "".join(f"{n},{('likes', 'knows')[n % 2]},{n * 3 % 10}\n" for n in range(10)), False),
        ("who,whom,does\n" + "".join(f"{n},{n * 3 % 10},{('likes', 'knows')[n % 2]}\n" for n in range(10)), False),
        ("who,club,age\n" + "".join(f"p{n},{'ab'[n % 2]},{n}\n" for n in range(10)), True),  # nothing is shared
        ("who,age,club\n" + "".join(f"p{n},{n},{'ab'[n % 2]}\n" for n in range(10)), True),
        ("who,note,age\nAda,,3\nBo,x,4\n", True),  # one value says nothing of a type
        # Nearly all values are quantities.
        ("who,what,size\n" + "a,b,9 xyz\n" * 19 + "c,d,many\n", True),
        ("who,what,size\n" + "a,b,9 xyz\n" * 18 + "c,d,many\n", False),
    ],
)
def test_three_columns_are_entities_where_headings_or_types_say_so(text: str, is_sheet: bool) -> None:
    assert (sheet(text) is not None) is is_sheet


@pytest.mark.parametrize(
    ("text", "is_sheet"),
    [
        ("country,2010,2020\nBelland,1200,1350\nCorvia,80,76\n", True),
        ("country,2010,2020\nBelland,7.5,\nCorvia,,NaN\n", True),
        ("country,code,2010,2020\nBelland,b,7.5,8\nCorvia,c,n/a,9\n", True),
        ("Ada,1815,1852\nBo,1901,1950\n", False),  # years of a life
        ("Ada,1815,1852\nBo,1901,\nCy,1888,still alive\n", False),
        ("country,2010,2020\n", False),
        ("country,2010,2020\nBelland,2010,76\n", False),  # the heading comes again
    ],
)
def test_two_years_are_headings_above_numbers_that_are_no_years(text: str, is_sheet: bool) -> None:
    try:
        found = sheet(text)
    except InputError:  # four columns without a header
        found = None
    assert (found is not None) is is_sheet


@pytest.mark.parametrize(
    ("name", "is_sheet"), [("orders.csv", True), ("shop/my_orders.csv", True), ("order.csv", False), ("a.csv", False)]
)
def test_three_columns_are_entities_where_the_first_heading_is_the_name_of_the_file(name: str, is_sheet: bool) -> None:
    assert (sheet("order,bike,customer\nO1,Rover,Ida\nO2,Swift,Tom\n", name=name) is not None) is is_sheet


@pytest.mark.parametrize(
    "text",
    [
        ",name,club,caps\n0,Alan,Tigres,4\n1,Oribe,America,60\n",
        "Unnamed: 0,name,club,caps\n0,Alan,Tigres,4\n1,Oribe,America,60\n",
        "film,director,genre,studio\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",
        f"film,director,genre,{'s' * 40}\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",
        "film,year,genre,studio\nAlien,1979,a,b\nBrazil,1985,a,b\n",
        "Film 1,director,genre,studio\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",
        "city,land\nRiga,Latvia\nOslo,Norway\n",
        "city,land\nRiga,Latvia\nOslo,Norway\nRome,Italy\nKiel,Germany\nUlm,germany\n",
        "source,target,weight,x\na,b,1,2\n",
        "id,x\n1,a\n",
        "film,%,genre,studio\nAlien,7,horror,Fox\nBrazil,8,satire,Universal\n",
        "film,H1,genre,studio\nAlien,,horror,Fox\nBrazil,,satire,Universal\n",
        "film,year,genre,studio\nfilm,1979,a,b\nBrazil,1985,a,b\n",  # numbers decide, though a heading comes again
        "eMail,land\nRiga,Latvia\nOslo,Norway\n",
        "id,name,x,y\n1,a,b,c\nid\n",  # a line of one cell, such as a footnote
    ],
)
def test_a_first_line_of_two_or_of_many_columns_heads_a_sheet(text: str) -> None:
    assert sheet(text) == (tuple(text.splitlines()[0].split(",")), 2)


@pytest.mark.parametrize(
    "text",
    [
        "film,,genre,studio\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",  # no heading
        "film,12,genre,studio\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",
        f"film,director,genre,{'s' * 41}\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",
        "Q1,director,genre,studio\nQ2,Scott,horror,Fox\nQ3,Gilliam,satire,Universal\n",  # written as the ids below
        "film,director,genre,studio\nAlien,Scott,horror,Fox\n",  # a single row is too few
        "film,year,genre,studio\nAlien,1979,a,b\n",
        "film,director,genre,studio\nfilm,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",
        "City,land\nRiga,Latvia\nOslo,Norway\n",
        "city,land\nRiga,Latvia\nOslo,Norway\nRome,Italy\nKiel,germany\nUlm,germany\n",
        "source,target,weight,x\nsource,b,c,d\n",
        "name,city,x,y\nname,b,c,d\n",
        "12,director,genre,studio\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n",
        ",12,genre,studio\n1,Scott,horror,Fox\n2,Gilliam,satire,Universal\n",
        "film,#,genre,studio\nAlien,7,horror,Fox\nBrazil,8,satire,Universal\n",
        "Unnamed: 0\n1\n2\n",
        "name\nAda\nname\nBo\n",
        "id,name,x,y\n1,a,b,c\nid,z\n",
    ],
)
def test_a_first_line_that_may_be_a_row_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"a\.csv:1: "):
        sheet(text)


def test_each_refusal_says_what_to_give() -> None:
    for text, said in (
        ("only\nwords\n", "found one column; give the --separator of its columns, if it has several .*at ','"),
        ("ID   NAME\n1    Ada\n", "found one column; .*; write columns that blanks line up as CSV, as with pandas"),
        ("Riga,Latvia\nOslo,Norway\n", "its first line may be a header or the first of its rows; give --header"),
        ("a,b,c,d\ne,f,g,h\n".replace("a,", "12,"), "expected 3 columns separated by ',', found 4: "),
    ):
        with pytest.raises(InputError, match=f"a.csv:1: {said}"):
            planned(text)


def rows_of(relations: list[str], shared: int) -> str:
    """Return rows of relation, subject and object, so many of whose objects are subjects."""
    count = len(relations)
    objects = [f"s{n}" if n < shared else f"o{n}" for n in range(count)]
    return "".join(f"{relations[n]},s{(n + 1) % count},{objects[n]}\n" for n in range(count))


@pytest.mark.parametrize(
    ("relations", "shared", "first"),
    [
        (["knows", "likes"] * 5, 3, True),
        (["knows", "likes"] * 5, 2, False),
        (["knows"] * 10, 2, True),  # a tenth of the rows has a relation of its own, and a fiftieth is shared
        (["knows"] * 9, 2, False),
        (["knows"] * 10, 0, False),
        (["knows"] * 5, 2, True),
        (["knows"] * 4, 2, False),
        (["knows"] * 50, 1, True),
        (["knows"] * 51, 1, False),
        (["knows", "likes", "s3"] * 4, 9, False),  # no relation is a subject
        (["knows", "likes", "s11"] * 4, 9, False),
        (["knows", "likes", "o9"] * 4, 9, False),  # or an object
    ],
)
def test_a_relation_in_front_is_known_since_the_two_others_share_their_values(
    relations: list[str], shared: int, first: bool
) -> None:
    plan, report = planned(rows_of(relations, shared))
    assert plan.picked == ((1, 0, 2) if first else (0, 1, 2))
    assert any("the first of its three columns was read as the relation" in note for note in report.notes) is first


def test_few_relations_among_few_subjects_tell_nothing() -> None:
    # Thirty rows with three relations: nine subjects are not more than three times as many, ten are.
    for count, first in ((9, False), (10, True)):
        rows = "".join(f"r{n % 3},s{n % count},{'s0' if n == 5 else f'o{n % 20}'}\n" for n in range(30))
        assert facts(rows) == (((1, 0, 2) if first else (0, 1, 2)), 1)


# Flags


def test_the_flag_says_whether_the_first_line_is_a_header() -> None:
    assert facts("city,what,land\nRiga,in,Latvia\n", header=True) == ((0, 1, 2), 2)
    assert facts("subject,relation,object\na,r,b\n", header=False) == ((0, 1, 2), 1)
    assert sheet("Riga,Latvia\nOslo,Norway\n", header=True) == (("Riga", "Latvia"), 2)
    assert sheet("Riga,Latvia\nOslo,Norway\n", header=False) == (("source", "target"), 1)
    assert sheet("a,b,c,d\ne,f,g,h\n", header=True) == (("a", "b", "c", "d"), 2)
    assert sheet("a,b\nc,d,e\nf,g,h\n", header=True) == (("a", "b"), 2)
    with pytest.raises(InputError, match="expected 3 columns"):
        planned("a,b,c,d\ne,f,g,h\n", header=False)


def test_columns_are_chosen_by_number_or_heading() -> None:
    assert facts("x,y,z\na,r,b\n", columns=("3", "2", "1"), header=True) == ((2, 1, 0), 2)
    assert facts("subject,relation,object\na,r,b\n", columns=("1", "2", "3"), header=False) == ((0, 1, 2), 1)
    assert facts("r,a,b,x\nr,c,d,y\n", columns=("2", "1", "3")) == ((1, 0, 2), 1)
    assert facts("to,x,rel,from\nb,1,r,a\n", columns=("from", "rel", "to")) == ((3, 2, 0), 2)
    assert facts("subject,relation,object\na,r,b\n", columns=("3", "2", "1")) == ((2, 1, 0), 2)
    assert facts("3,1,2\na,r,b\n", columns=("1", "2", "3"), header=True) == ((1, 2, 0), 2)
    assert facts("3,1,2\na,r,b\n", columns=("1", "2", "3")) == ((0, 1, 2), 1)
    assert facts("3,1,x\na,r,b\n", columns=("1", "2", "3"), header=True) == ((0, 1, 2), 2)
    assert facts(":ID,a,b\n1,r,2\n", columns=("1", "2", "3")) == ((0, 1, 2), 2)
    assert facts("a,r,b\nc,s,d,e\nf,s,g,h\n", columns=("4", "2", "1"), header=False) == ((3, 1, 0), 1)
    with pytest.raises(InputError, match=r"columns is \['1', '2'\]; name three"):
        planned("a,r,b\n", columns=("1", "2"))
    for flags in ({"columns": ("a", "b", "c")}, {"id": "name"}):
        with pytest.raises(InputError, match="columns are chosen by name, but the file is said to have no header"):
            planned("a,b,c\n1,2,3\n", header=False, **flags)
    assert sheet("1,Ada,x\n2,Bo,y\n", header=False, id="1") == (("source", "target", "column 3"), 1)
    assert sheet("no,who\n1,Ada\n", id="who") == (("no", "who"), 2)


@pytest.mark.parametrize("more", [{"key": "c"}, {"links": {"b": "t"}}])
def test_a_container_that_declares_a_key_or_a_link_has_entities(more: dict[str, Any]) -> None:
    report = FileReport("a.db", "sqlite", **more)
    rows = [(0, ["a", "b", "c"]), (1, ["x", "r", "y"])]
    assert plan_facts(BuildSettings(("a.db",)))(rows, report).titles == ("a", "b", "c")


@pytest.mark.parametrize(
    ("text", "flags", "width", "unread"),
    [
        ("a,r,b\nc,s,d,e\nf,s,g,h\n", {"columns": ("4", "2", "1")}, 4, ["column 3"]),
        ("a,r,b,e\nc,s,d\nf,s,g\n", {"columns": ("1", "2", "3")}, 3, ["column 4"]),
        ("a,r,b\nc,s,d,e\nf,s,g,h\n", {}, 3, ["column 4"]),  # no number was given
    ],
)
def test_the_width_of_numbered_columns_is_that_of_most_rows(
    text: str, flags: dict[str, Any], width: int, unread: list[str]
) -> None:
    plan, report = planned(text, header=False, **flags)
    assert (plan.width, plan.start, plan.header, report.unread) == (width, 1, 0, unread)


def test_facts_are_reported_with_their_columns_an_example_and_what_is_not_read() -> None:
    plan, report = planned("w,:END_ID(City),:TYPE,:START_ID(Person)\n5,riga,in,ada\n")
    assert plan == Plan(4, 2, (3, 2, 1, 0), 3, spaces=("Person/", "City/"), expected="4 columns", header=1)
    assert (report.header, report.header_line) == (("w", ":END_ID(City)", ":TYPE", ":START_ID(Person)"), 1)
    assert report.columns == [
        {"column": "w", "as": "qualifier", "example": "5"},
        {"column": ":END_ID(City)", "as": "object", "example": "riga"},
        {"column": ":TYPE", "as": "relation", "example": "in"},
        {"column": ":START_ID(Person)", "as": "subject", "example": "ada"},
    ]
    assert (report.unread, report.properties) == ([], ("w",))
    _, report = planned("from,type,to\na,r\nc,s,d\ne,s,f\n")  # the first row lacks a cell
    assert [column["example"] for column in report.columns] == ["a", "r", ""]
    plan, report = planned("a,r,b\n")
    assert plan == Plan(3, 1, (0, 1, 2), 3, expected="3 columns")
    assert (report.header, report.header_line, report.unread) == ((), 0, [])
    assert report.columns[0] == {"column": "column 1", "as": "subject", "example": ""}
    plan, report = planned("city,land\nRiga,Latvia\nOslo,Norway\n")
    assert (report.header, report.header_line) == (("city", "land"), 1)
    assert plan == Plan(2, 2, (0, 1), 0, ("city", "land"), expected="2 columns", header=1)
    assert plan_facts(BuildSettings(("a.csv",)))([], FileReport("a.csv", "csv")) == Plan(
        3, 1, (0, 1, 2), 3, expected="3 columns"
    )


def test_lines_of_comments_and_of_other_widths_are_no_header() -> None:
    assert facts("# made by hand\nsubject,relation,object\na,r,b\n") == ((0, 1, 2), 2 + 1)
    assert facts("#subject,relation,object\na,r,b\n") == ((0, 1, 2), 2)
    assert facts("# by, hand\n# in, May\n# of, 2020\nsubject,relation,object\na,r,b\n") == ((0, 1, 2), 5)
    assert facts("a title\na,r,b\nc,r,d\ne,r,f\n") == ((0, 1, 2), 2)
    assert sheet("report,2020\nid,name,size\n1,Ada,5\n2,Bo,6\n") == (("id", "name", "size"), 3)


# Files of names


def fixed(text: str, certain: bool = False, widths: tuple[int, ...] = (2, 3)) -> tuple[Plan, FileReport]:
    rows = [(number, line.split(",")) for number, line in enumerate(text.splitlines(), 0 if certain else 1)]
    report = FileReport("l.csv", "csv", separator=",")
    return plan_fixed(widths, 1, (("id", "name"), ("label", "text")))(rows, report), report


def test_files_of_names_have_their_columns_in_a_fixed_order() -> None:
    plan, report = fixed("id,label\nQ1,Riga\n")
    assert plan == Plan(2, 2, (0, 1), 1, expected="2 columns", header=1)
    assert (report.header, report.header_line) == (("id", "label"), 1)
    assert report.columns == [{"column": c, "as": c, "example": ""} for c in ("id", "label")]
    assert fixed("Q1,Riga,lv\n")[0] == Plan(3, 1, (0, 1, 2), 1, expected="3 columns")
    assert fixed("id,Riga\n")[0].start == 1
    assert fixed("# names\nQ1,Riga\n")[0].width == fixed("# by,hand,in,May\nQ1,Riga\n")[0].width == 2
    assert fixed("#id,label\nQ1,Riga\n")[0].header == 1
    assert fixed("")[0] == Plan(2, 1, (0, 1), 1, expected="2 columns")
    certain, report = fixed("id,label,lang,more\nQ1,Riga,lv,x\n", certain=True)
    assert certain == Plan(4, 1, (0, 1, 2), 1, expected="3 columns", header=1)
    assert report.header == ()
    with pytest.raises(InputError, match=r"l\.csv:1: expected 2 columns separated by ',', found 4; correct the line"):
        fixed("Q1,a,b,c\n")


def test_names_of_rows_may_lack_a_heading() -> None:
    rows = "Mazda,21,6\nDatsun,22,4\n"
    assert sheet("mpg,cyl\n" + rows) == (("", "mpg", "cyl"), 2)
    _, report = planned("mpg,cyl\n" + rows)
    assert report.notes == [
        "its first line has a heading less than its rows have cells; the first column is the name of the row"
    ]
    for text in ("mpg\n" + rows, "mpg,\n" + rows, "mpg,cyl\n" + rows + rows, "mpg,cyl\n1,21,6\n2,22,4\n"):
        assert (sheet(text) or [()])[0] != ("", "mpg", "cyl")
    # Commas before blanks are part of an address, and blanks before numbers line them up.
    assert (sheet("shop,place\nAsh,3 Low Road, York\nElm,5 High Street, Leeds\n") or [()])[0] != ("", "shop", "place")
    assert sheet("mpg,cyl\nMazda, 21,6\nDatsun, 22,4\n") == (("", "mpg", "cyl"), 2)


def test_lines_above_a_table_that_fill_few_cells_are_no_header() -> None:
    table = "Branch,Manager,Staff,Opened\nGraz,Ann,8,2014\nBasel,Bo,15,2009\n"
    assert sheet("Staff report 2020,,,\n,,,\n" + table) == (("Branch", "Manager", "Staff", "Opened"), 4)
    assert planned("Staff report 2020,,,\n,,,\n" + table)[0].header == 1


@pytest.mark.parametrize(
    "text", ["Branch,Manager,,\nGraz,Ann,8,2014\n", "Branch,Manager,,,\nGraz,Ann,,,\nBasel,Bo,15,9,x\n"]
)
def test_a_line_that_fills_half_as_many_cells_as_the_others_may_be_the_header(text: str) -> None:
    assert planned(text, header=True)[0].start == 2


@pytest.mark.parametrize(
    ("lines", "titles"),
    [
        ("Branch,Sales,,Since\n,Web,Shop,", ("Branch", "Sales Web", "Sales Shop", "Since")),
        ("Branch,Sales,,Since\n,2019,2020,", ("Branch", "Sales 2019", "Sales 2020", "Since")),
    ],
)
def test_headings_of_two_lines_are_joined_where_the_second_fills_the_gaps(lines: str, titles: tuple[str, ...]) -> None:
    plan, report = planned(f"{lines}\nGraz,8,5,2014\nBasel,15,4,2009\n")
    assert (plan.titles, plan.start, plan.header, report.header_line) == (titles, 3, 2, 2)


def test_the_second_line_of_a_header_is_no_example() -> None:
    _, report = planned("who,does,\n,,whom\na,r,b\n", header=True, columns=("1", "2", "3"))
    assert [column["example"] for column in report.columns] == ["a", "r", "b"]


def test_a_row_with_gaps_below_a_header_with_gaps_is_no_second_header() -> None:
    rows = "Graz,8,,2014\nBasel,15,4,2009\n"
    plan, _ = planned(f"branch,sales,,since\n{rows}", header=True)
    assert (plan.titles, plan.start) == (("branch", "sales", "", "since"), 2)


YEARS = "Country Name,Country Code,2018,2019,2020"


@pytest.mark.parametrize("end", ["", ","])
def test_years_in_equal_steps_are_headings(end: str) -> None:
    titles = tuple(f"{YEARS}{end}".split(","))
    assert sheet(f"{YEARS}{end}\nAldoria,ALD,12,15,16{end}\nBrevia,BRV,56,,55{end}\n") == (titles, 2)


@pytest.mark.parametrize("first", ["Ada,1815,1852,London", "Ada,1815,1835,1852,London", "Ada,100,200,300,London"])
def test_numbers_that_are_no_years_in_equal_steps_are_no_headings(first: str) -> None:
    with pytest.raises(InputError, match="give --header"):
        planned(f"{first}\n{first.replace('Ada', 'Bo')}\n{first.replace('Ada', 'Cy')}\n")


def test_two_columns_with_shared_values_before_numbers_are_edges_with_a_weight() -> None:
    plan, report = planned("alice,bob,3\nbob,carol,1.5\n")
    assert (plan.titles, plan.start, plan.header) == (("source", "target", "weight"), 1, 0)
    assert "edges with a weight; give --columns 1,2,3" in report.notes[0]


@pytest.mark.parametrize("text", ["Alien,year,1979\nCube,year,1997\n", "1,2,3\n2,3,4\n", "a,b,3\nb,c,many\n"])
def test_other_tables_of_three_columns_are_facts(text: str) -> None:
    assert facts(text) == ((0, 1, 2), 1)
    assert facts("a,b,3\nb,c,4\n", columns=("1", "2", "3")) == ((0, 1, 2), 1)


def test_a_heading_may_be_empty_over_an_empty_column_alone() -> None:
    assert sheet("id,name,,start\n1,Uma,,2020\n2,Vik, ,2021\n") == (("id", "name", "", "start"), 2)
    with pytest.raises(InputError, match="give --header"):
        sheet("id,name,,start\n1,Uma,,2020\n2,Vik,x,2021\n")


def test_the_rule_below_a_header_in_markdown_is_no_row() -> None:
    lines = "|Peak|Height|Land|\n|:---|---:|--|\n|Vert|3120|France|\n|Alto|2870|Italy|\n"
    assert sheet(lines.replace("|", ","))  # its dashes hide no numbers
    assert sheet("city,size,land\n---,---,---\nRiga,5,x\nOslo,6,y\n") == (("city", "size", "land"), 2)
    assert is_rule(["", "---", ":--:", " --- ", ""])
    assert not any(map(is_rule, (["", ""], ["---", "a"], ["-", "-"])))
    assert is_rule(["", "-", ":-", ""], "|")


def test_a_relation_comes_again() -> None:
    rows = "".join(f"{n},{'ab'[n % 2]},{'abc'[n % 3]}\n" for n in range(9))
    assert facts(rows) == ((0, 1, 2), 1)


@pytest.mark.parametrize(("rows", "doubt"), [("t1\tn\tn2\nt2\tm\tx\n", True), ("a\tn\tn2\nt2\tn3\tx\n", False)])
def test_words_above_codes_may_be_a_header_in_tsv_too(rows: str, doubt: bool) -> None:
    assert doubt_of_first("tconst", rows) is doubt
    assert not doubt_of_first("t0", rows)


def doubt_of_first(cell: str, rows: str, format: str = "tsv", **flags: Any) -> bool:
    """Return whether a first line with a cell may be a header."""
    lines = f"{cell}\tone\ttwo\n{rows}".splitlines()
    report = FileReport("a.tsv", format, separator="\t")
    plan_facts(BuildSettings(("a.tsv",), **flags))([(n, line.split("\t")) for n, line in enumerate(lines, 1)], report)
    return any("if it is a header, give --header" in note for note in report.notes)


@pytest.mark.parametrize(
    ("cell", "rows", "format", "doubt"),
    [
        ("to", "a\tn\tx\nb\tm\ty\n", "tsv", True),
        ("Head", "a\tn\tx\nb\tm\ty\n", "tsv", True),
        ("s", "a\tn\tx\nb\tm\ty\n", "tsv", False),  # a letter is no word
        ("to", "a\tn\nto\tm\ty\n", "tsv", False),  # it comes again in its column
        ("to", "a\tto\tx\nb\tn\ty\n", "tsv", True),  # not in another one
        ("x", "a\tn\tx\nb\tm\ty\n", "tsv", False),
        ("z", "a\tn\tx\nb\tm\ty\n", "csv", True),  # nothing of it comes again
        ("x", "a\tn\tx\nb\tm\ty\n", "csv", False),
        ("7", "a\tn\tx\nb\tm\ty\n", "csv", False),
        ("z", "", "csv", False),
    ],
)
def test_a_first_line_may_be_a_header_by_its_words_or_as_it_stands_alone(
    cell: str, rows: str, format: str, doubt: bool
) -> None:
    assert doubt_of_first(cell, rows, format) is doubt
    assert not doubt_of_first(cell, rows, format, header=False)


def test_variables_of_sparql_are_headings() -> None:
    assert sheet("?a,?b,?c\nx,y,z\n") == (("?a", "?b", "?c"), 2)
    assert facts("?a,?b,c\nx,y,z\n") == ((0, 1, 2), 1)


@pytest.mark.parametrize(
    ("filled", "usual", "above"),
    [
        ([1, 4, 4], 4, 1),
        ([2, 4, 4], 4, 0),  # half of the usual cells
        ([2, 5, 5], 5, 1),
        ([1, 2, 4, 4, 4], 4, 1),
        ([1, 1, 2, 2], 3, 2),
        ([1, 2, 2], 2, 0),  # of two columns either may be empty
        ([1, 3, 3], 3, 1),
        ([1, 1, 1], 3, 0),
        ([0, 1, 4, 4], 4, 2),
        ([4], 4, 0),
        ([2, 5], 5, 1),  # the first line is none of the usual
    ],
)
def test_first_lines_that_fill_less_than_half_of_the_usual_cells_are_above_the_table(
    filled: list[int], usual: int, above: int
) -> None:
    rows = [(n, ["x"] * count + [" "] * (usual - count)) for n, count in enumerate(filled, 1)]
    assert header._above(rows, usual) == above


@pytest.mark.parametrize(
    ("above", "below", "titles"),
    [
        (["a", "", "b"], ["", "c", "d"], ["a", "a c", "b d"]),
        (["a", "b", "c"], ["", "d", "e"], None),  # no gap
        (["a", "", "b"], ["", "c"], None),
        (["", "a", ""], ["", "b", "c"], None),
        (["a", "", "b"], ["d", "c", "e"], None),
        (["a", "", ""], ["", "c", ""], None),  # a gap stays
        (["a", "", ""], ["", "c", "d"], ["a", "a c", "a d"]),
    ],
)
def test_two_lines_are_one_header_where_the_second_fills_each_gap(
    above: list[str], below: list[str], titles: list[str] | None
) -> None:
    first = (1, above)
    assert header._merged([first, (3, below)], first) == (None if titles is None else (3, titles))
    assert header._merged([first], first) is None
