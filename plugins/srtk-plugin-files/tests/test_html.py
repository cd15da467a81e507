import csv
import html
import io
import json
import re
import subprocess
import tracemalloc
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import attrs
import pytest
from chromium import BROWSER, browse
from srtk_plugin_files import html as html_exporter
from srtk_plugin_files import page_folder
from srtk_plugin_files.html import Page, page_data, pair_data

from srtk_framework.cli import main
from srtk_framework.records import dumps, record_from_retrieval
from srtk_framework.values import (
    Alternative,
    Answer,
    DriverError,
    Evidence,
    Link,
    Literal,
    Question,
    RankedPath,
    Retrieval,
    SettingsError,
    Step,
    Subgraph,
    Triple,
)

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

TAGS = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
ARABIC = "ريغا، عاصمة لاتفيا"
EVIL = Retrieval(
    question=Question("q-evil", f'Who is "{TAGS}" 🏰?', (Link("e1", 0.9, 0, 3),), answers=("e2", "e3", "e1")),
    subgraph=Subgraph(
        triples=(Triple("e1", TAGS, "e2"), Triple("e2", "r\u2028s", Literal('"a\nb"@en')), Triple("e1", "r", "e4")),
        scores=(0.9, 0.5, 0.25),
        paths=(RankedPath("e1", (Step(TAGS), Step("r", True)), 0.9),),
        path_of=(0, 0, -1),
        provenance=(TAGS,) * 3,
        qualifiers=((("q", TAGS),), (), ()),
        trace={"note": TAGS},
    ),
    answer=Answer("free text", ("e4",), (2,)),
    labels={"e1": ARABIC, "e2": "line\nend 🇱🇻", "e4": "a" * 300},
)


def country(i):
    triples = tuple(Triple(f"c{i}", "city", f"town{n}") for n in range(30))
    question = Question(f"q{i}", f"Which towns has country {i}?", (Link(f"c{i}"),), answers=("town3",))
    return Retrieval(question, Subgraph(triples, tuple(1 - n / 100 for n in range(30)), provenance=("x",) * 30))


def page(tmp_path, *retrievals, **settings):
    driver = Page(path=str(tmp_path / "page.html"), **settings)
    driver.open()
    driver.write(retrievals)
    driver.close()
    return tmp_path / "page.html"


class Scripts(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.tags, self._id = {}, [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._id = dict(attrs).get("id", "code") if tag == "script" else None

    def handle_data(self, data):
        if self._id:
            self.found[self._id] = data

    def handle_endtag(self, tag):
        self._id = None


def dom(path: Path, place: str = "", size: str = "1280,900") -> tuple[str, str]:
    """Return the page as a browser leaves it, and what it said on its console."""
    profile = path.parent / "profile"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    flags += ["--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"]
    flags += [f"--user-data-dir={profile}", f"--window-size={size}", "--virtual-time-budget=2000", "--dump-dom"]
    done = subprocess.run(
        [str(BROWSER), *flags, path.as_uri() + place], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def test_the_data_in_the_page_come_back_whatever_the_labels(tmp_path):
    found = Scripts(page(tmp_path, EVIL, country(1)).read_text(encoding="utf-8"))
    assert sorted(found.found) == ["code", "index-data", "r0", "r1", "summary-data"]
    assert json.loads(found.found["r0"]) == json.loads(json.dumps(page_data(EVIL)))
    assert [entry["id"] for entry in json.loads(found.found["index-data"])] == ["q-evil", "q1"]


def test_the_page_asks_for_nothing_from_elsewhere(tmp_path):
    text = page(tmp_path, country(1)).read_text(encoding="utf-8")
    found = Scripts(text)
    assert not [tag for tag, attrs in found.tags if tag in ("link", "img", "iframe") or {"src", "href"} & set(attrs)]
    assert re.findall(r"https?://[^\"' ]+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(|Math\.random", text)
    assert "default-src 'none'" in text


def test_the_title_is_escaped_and_fills_no_other_place(tmp_path):
    text = page(tmp_path, title="<b>{{data}}\0 & {{script}}").read_text(encoding="utf-8")
    assert "<title>&lt;b&gt;{{data}} &amp; {{script}}</title>" in text


def test_answers_are_found_or_missed_and_an_entity_of_the_question_is_never_found():
    data = page_data(EVIL)
    ids = [data["terms"][number][0] for number, _ in data["gold"]]
    assert list(zip(ids, [found for _, found in data["gold"]], strict=True)) == [
        ("e2", True),
        ("e3", False),
        ("e1", False),
    ]
    assert data["state"] == "part"
    assert data["terms"][data["answer"][0]][0] == "e4"
    assert data["said"]["line"] == "free text"


def test_a_literal_answer_is_found_by_its_lexical_form():
    subgraph = Subgraph((Triple("a", "year", Literal('"1201"^^xsd:gYear')),), (1.0,))
    data = page_data(Retrieval(Question("1", "when", (Link("a"),), answers=("1201",)), subgraph))
    ((number, found),) = data["gold"]
    assert found
    assert data["terms"][number] == ['"1201"^^xsd:gYear', "1201", "xsd:gYear"]


@pytest.mark.parametrize(
    ("retrieval", "state"),
    [
        (Retrieval(Question("1", "w"), error="no"), "error"),
        (Retrieval(Question("1", "w", answers=("a",))), "empty"),
        (Retrieval(Question("1", "w"), Subgraph((Triple("a", "b", "c"),), (1.0,))), "plain"),
        (Retrieval(Question("1", "w", answers=("z",)), Subgraph((Triple("a", "b", "c"),), (1.0,))), "missed"),
        (Retrieval(Question("1", "w", answers=("c",)), Subgraph((Triple("a", "b", "c"),), (1.0,))), "found"),
    ],
)
def test_each_outcome_has_its_state(retrieval, state):
    assert page_data(retrieval)["state"] == state


def lacking_one():
    reasons = (Evidence("path", "lives in a town of the country", source="rule 7"),)
    subgraph = Subgraph(
        (Triple("a", "city", "b"), Triple("a", "city", "c")),
        (1.0, 0.5),
        provenance=("x", "rules:x"),
        confidences=(1.0, 0.42),
        evidence=((), reasons),
    )
    return Retrieval(Question("1", "which", (Link("a"),)), subgraph)


def test_a_triple_that_the_graph_lacks_has_its_confidence_and_reasons_in_the_data():
    assert page_data(lacking_one())["completed"] == {"1": [0.42, [["lives in a town of the country", "rule 7"]]]}
    assert "completed" not in page_data(EVIL)


@needs_browser
def test_a_browser_dashes_what_the_graph_lacks_and_says_why(tmp_path):
    text, said = dom(page(tmp_path, lacking_one()))
    assert said == ""
    assert text.count('class="edge completed"') == 2  # one in the drawing, one in the legend
    assert text.count('class="edge"') == 2
    assert "not in the graph; confidence 0.42: lives in a town of the country (rule 7)" in text


def test_retrievals_go_to_disk_as_they_come(tmp_path, monkeypatch):
    monkeypatch.setattr(page_folder, "_HELD", 1000)
    driver = Page(path=str(tmp_path / "page.html"))
    driver.open()
    driver.write([country(0)])
    tracemalloc.start()
    try:
        driver.write([country(i) for i in range(20)])
        before = tracemalloc.get_traced_memory()[0]
        driver.write([country(i) for i in range(400)])
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()
    driver.abort()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small(monkeypatch):
    """Let the data of a few questions fill several files beside a page."""
    monkeypatch.setattr(html_exporter, "_WHOLE", 4000)
    monkeypatch.setattr(page_folder, "_PART", 3000)


def test_the_data_of_many_questions_lie_in_files_beside_the_page(tmp_path, small):
    path = page(tmp_path, EVIL, *map(country, range(9)))
    found = Scripts(path.read_text(encoding="utf-8"))
    assert sorted(found.found) == ["code", "index-data", "summary-data"]
    folder = json.loads(found.found["summary-data"])["folder"]
    assert folder["name"] == "page-data"
    files = sorted((tmp_path / "page-data").iterdir(), key=lambda file: int(file.stem.removeprefix("part-")))
    assert len(files) == len(folder["starts"]) > 2
    texts = [line[1:-2] for file in files for line in file.read_text("utf-8").splitlines()[1:-1]]
    data = [json.loads(re.sub(r"\\(.)", r"\1", text)) for text in texts]
    assert [one["id"] for one in data] == ["q-evil", *(f"q{i}" for i in range(9))]
    assert data[0] == json.loads(json.dumps(page_data(EVIL)))
    assert not any("<" in file.read_text("utf-8") for file in files)


def test_the_same_questions_give_the_same_page_and_files(tmp_path, small):
    written = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        path = page(tmp_path / name, *map(country, range(9)))
        written.append({file.name: file.read_bytes() for file in (path, *(tmp_path / name / "page-data").iterdir())})
    assert written[0] == written[1]


def test_only_a_page_with_files_beside_it_lets_its_script_load_scripts(tmp_path, small):
    alone = page(tmp_path, country(1)).read_text(encoding="utf-8")
    assert "'strict-dynamic'" not in alone
    parted = page(tmp_path, *map(country, range(9))).read_text(encoding="utf-8")
    assert re.search(r"script-src 'sha256-[^' ]+' 'strict-dynamic'; base-uri 'none'", parted)


def test_files_of_an_earlier_page_are_replaced_and_those_of_others_are_kept(tmp_path, small):
    folder = tmp_path / "page-data"
    page(tmp_path, *map(country, range(9)))
    assert len(list(folder.iterdir())) > 3
    page(tmp_path, *map(country, range(4)))
    assert len(list(folder.iterdir())) <= 3
    page(tmp_path, country(1))
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    folder.mkdir()
    (folder / "mine.js").touch()
    before = (tmp_path / "page.html").read_bytes()
    with pytest.raises(DriverError, match="page-data holds other things than the data of a page; move it away"):
        page(tmp_path, *map(country, range(9)))
    assert (tmp_path / "page.html").read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["page-data", "page.html"]
    page(tmp_path, country(1))
    assert [file.name for file in folder.iterdir()] == ["mine.js"]


def test_a_compressed_page_is_one_file_whatever_its_size(tmp_path, small):
    driver = Page(path=str(tmp_path / "page.html.gz"))
    driver.open()
    driver.write([country(i) for i in range(9)])
    driver.close()
    assert [file.name for file in tmp_path.iterdir()] == ["page.html.gz"]
    assert driver.parts() == []


def test_the_run_names_the_files_beside_its_page(tmp_path, small, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    records = [dumps(record_from_retrieval(country(i))) for i in range(9)]
    Path("questions.jsonl").write_text("\n".join(records), encoding="utf-8")
    recipe = {"srtk": 1, "questions": "questions.jsonl", "exporters": [{"use": "html", "path": "out/page.html"}]}
    Path("recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    assert main(["run", "recipe.yaml"]) == 0
    assert {"open out/page.html", "wrote out/page-data"} <= {*capsys.readouterr().out.splitlines()}


@needs_browser
def test_a_browser_shows_every_label_as_text_and_runs_none_of_it(tmp_path):
    text, said = dom(page(tmp_path, EVIL, title="Fine"))
    assert said == ""
    assert "<title>Fine</title>" in text
    shown = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "<img" not in shown
    assert shown.count("&lt;img src=x onerror=") > 3
    assert ARABIC in shown
    assert "🇱🇻" in shown
    assert 'dir="auto"' in shown


@needs_browser
def test_a_browser_draws_linked_and_answer_entities_with_marks(tmp_path):
    text, _ = dom(page(tmp_path, EVIL, country(7)), "#q7")
    assert re.search(
        r'class="node is-linked"[^>]*><span class="badge linked">●</span><span class="name"[^>]*>c7<', text
    )
    assert re.search(
        r'class="node is-found"[^>]*><span class="badge found">✓</span><span class="name"[^>]*>town3<', text
    )
    assert re.search(r'class="node fold"[^>]*><span class="name"[^>]*>23 more<', text)
    assert text.count('data-i="') == 30
    assert 'aria-selected="true"' in text


@needs_browser
def test_a_browser_draws_at_most_so_many_triples_and_the_route_to_the_answer_among_them(tmp_path):
    text, _ = dom(page(tmp_path, country(7), max_triples=2))
    assert "2 of 30 triples drawn" in text
    assert "✓</span><span" in text
    assert text.count('data-i="') == 30


@needs_browser
def test_a_browser_shows_errors_reasons_and_an_empty_file(tmp_path):
    failed = Retrieval(Question("f", ""), error="the endpoint did not answer")
    empty = Retrieval(Question("e", "Where?"), Subgraph(trace={"reason": "no entity was linked"}))
    path = page(tmp_path, failed, empty)
    assert 'role="alert">the endpoint did not answer' in dom(path)[0]
    assert "no entity was linked" in dom(path, "#e")[0]
    assert "There are no questions" in dom(page(tmp_path))[0]


@needs_browser
def test_a_browser_draws_the_same_twice(tmp_path):
    path = page(tmp_path, EVIL)
    assert dom(path) == dom(path)


def mixed():
    """Two hops and three relations, scores from .1 to 1, ids that are addresses and ids that only look like them."""
    film = "http://films.example/f1"
    triples = (
        Triple("a", "directed", film),
        Triple("a", "directed", "javascript:alert(1)"),
        Triple(film, "stars", "b"),
        Triple("b", "born in", '=HYPERLINK("x")'),
        Triple("b", TAGS, Literal('"http://text.example/"')),
    )
    return Retrieval(
        Question("mix", "What did A direct?", (Link("a"),), answers=("b",)),
        Subgraph(triples, (1.0, 0.5, 0.4, 0.2, 0.1), provenance=("-x",) * 5),
        labels={"a": "Añna", film: "Film"},
    )


DRAWN = "document.getElementById('drawn').textContent"
LISTED = "[...document.querySelectorAll('tbody tr')].map((row) => Number(row.dataset.i))"
ZOOM = "Number(document.querySelector('.sheet').style.transform.match(/scale\\((.*)\\)/)[1])"
QUESTIONS = "[...document.querySelectorAll('.row')].map((row) => row.querySelector('.words').textContent)"
CLIPBOARD = "globalThis.kept = ''; navigator.clipboard.writeText = async (text) => { globalThis.kept = text; };"


def focus(tab, selector):
    tab.value(f"document.querySelector({selector!r}).focus()")


def set_to(tab, selector, value, event="input"):
    tab.value(
        f"(() => {{ const e = document.querySelector({selector!r}); e.value = {value!r};"
        f" e.dispatchEvent(new Event({event!r}, {{bubbles: true}})); }})()"
    )


@pytest.fixture
def opened(tmp_path):
    """Open a page in a browser; nothing may have failed on it at the end."""
    tabs = []

    @contextmanager
    def open_page(*retrievals, place="", **settings):
        with browse(page(tmp_path, *retrievals, **settings).as_uri() + place, tmp_path / "profile") as tab:
            tabs.append(tab)
            yield tab

    yield open_page
    assert [tab.said for tab in tabs] == [[] for _ in tabs]


@needs_browser
def test_the_slider_sets_the_number_of_triples_drawn_by_keyboard(opened):
    with opened(country(1), country(2), max_triples=5) as tab:
        assert tab.value(DRAWN) == "5 of 30 triples drawn"
        focus(tab, "#most")
        tab.press("ArrowRight", "ArrowRight")
        assert tab.value(DRAWN) == "7 of 30 triples drawn"
        tab.press("End")
        assert tab.value(DRAWN) == "30 triples"
        tab.press("Home")
        assert tab.value(DRAWN) == "1 of 30 triples drawn"
        assert tab.value("document.querySelectorAll('.node:not(.fold)').length") == 2
        assert tab.value("document.querySelectorAll('tbody tr').length") == 30
        focus(tab, "#main")
        tab.press("j")
        assert tab.value(DRAWN) == "1 of 30 triples drawn"


@needs_browser
def test_filters_leave_out_triples_in_the_drawing_and_in_the_table(opened):
    with opened(mixed()) as tab:
        assert tab.value(LISTED) == [0, 1, 2, 3, 4]
        set_to(tab, "#least", "0.4")
        assert tab.value(LISTED) == [0, 1, 2]
        assert tab.value(DRAWN) == "3 of 5 triples drawn"
        set_to(tab, "#least", "0.1")
        focus(tab, "#hop")
        tab.press("ArrowDown")
        assert tab.value(LISTED) == [0, 1]
        tab.press("ArrowDown")
        assert tab.value(LISTED) == [0, 1, 2]
        tab.press("Home")
        focus(tab, "#relation")
        tab.press("ArrowDown")
        assert tab.value("document.querySelector('#relation').selectedOptions[0].textContent") == "directed (2)"
        assert tab.value(LISTED) == [0, 1]
        set_to(tab, "#least", "1")
        assert tab.value(LISTED) == [0]
        set_to(tab, "#hop", "1", "change")
        set_to(tab, "#relation", "5", "change")
        assert tab.value(LISTED) == []
        assert tab.value(DRAWN) == "No triple passes the filters"


@needs_browser
def test_edges_are_as_wide_as_their_scores_are_high_when_wanted(opened):
    widths = "[...document.querySelectorAll('.edge')].map((e) => parseFloat(getComputedStyle(e).strokeWidth))"
    with opened(mixed()) as tab:
        assert set(tab.value(widths)) == {1.3, 2.4}
        focus(tab, "#weigh")
        tab.press(" ")
        assert (min(tab.value(widths)), max(tab.value(widths))) == (1, 5)


@needs_browser
def test_keys_buttons_and_the_wheel_zoom_and_arrows_and_the_mouse_move(opened):
    with opened(country(1), country(2)) as tab:
        fit = tab.value(ZOOM)
        focus(tab, ".stage")
        tab.press("+", "+", "+", "+", "+")
        assert tab.value(ZOOM) == pytest.approx(fit * 1.25**5, rel=1e-4)
        tab.press("-")
        assert tab.value(ZOOM) == pytest.approx(fit * 1.25**4, rel=1e-4)
        at = "[document.querySelector('.stage').scrollLeft, document.querySelector('.stage').scrollTop]"
        tab.press("+")
        tab.value("document.querySelector('.stage').scrollTo(0, 0)")
        tab.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp")
        assert tab.value(at) == [60, 60]
        box = tab.value(
            "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
            "(document.querySelector('.stage').getBoundingClientRect())"
        )
        spot = tab.value(
            "(() => { const b = document.querySelector('.stage').getBoundingClientRect();"
            " for (let x = b.left + 200; x < b.right - 20; x += 7)"
            " for (let y = b.top + 100; y < innerHeight - 60; y += 7)"
            " if (!document.elementFromPoint(x, y).closest('button')) return [x, y]; })()"
        )
        tab.mouse("mousePressed", *spot, button="left", buttons=1, clickCount=1)
        tab.mouse("mouseMoved", spot[0] - 30, spot[1] - 20, button="left", buttons=1)
        tab.mouse("mouseReleased", spot[0] - 30, spot[1] - 20, button="left", clickCount=1)
        assert tab.value(at) == [90, 80]
        before = tab.value(ZOOM)
        tab.mouse("mouseWheel", *spot, deltaX=0, deltaY=-100)
        assert tab.value(ZOOM) == pytest.approx(before * 1.25)
        tab.press("0")
        assert tab.value(ZOOM) == pytest.approx(fit)
        focus(tab, "button[aria-label^='Zoom out']")
        tab.press("Enter")
        assert tab.value(ZOOM) == pytest.approx(fit / 1.25)
        tab.value("document.activeElement.blur()")
        tab.mouse("mouseWheel", *box, deltaX=0, deltaY=-100)
        assert tab.value(ZOOM) == pytest.approx(fit / 1.25), "a wheel over a drawing that is not chosen scrolls"


@needs_browser
def test_two_fingers_zoom_and_buttons_are_large_on_a_phone(opened):
    with opened(country(1)) as tab:
        tab.look(390, 844, phone=True)
        tab.value("document.querySelector('.stage').scrollIntoView({ block: 'center' })")
        tab.press("0")
        before = tab.value(ZOOM)
        x, y = tab.value("(({x, y, width, height}) => [x + width / 2, y + height / 2])"
                         "(document.querySelector('.stage').getBoundingClientRect())")  # fmt: skip
        tab.touch("touchStart", (x - 30, y), (x + 30, y))
        tab.touch("touchMove", (x - 60, y), (x + 60, y))
        tab.touch("touchEnd")
        assert tab.value(ZOOM) == pytest.approx(before * 2, rel=0.05)
        low = tab.value(
            "[...document.querySelectorAll('button:not(.sheet *), select, input:not([type=checkbox]), summary')]"
            ".filter((e) => e.offsetHeight && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"
        )
        assert low == []
        assert tab.value("document.documentElement.scrollWidth") == 390


@needs_browser
def test_the_search_for_an_entity_lists_the_questions_whose_subgraph_has_it(opened):
    other = Retrieval(Question("o", "Other?"), Subgraph((Triple("b", "town", "town3"),), (1.0,)), labels={"b": "Ånne"})
    with opened(country(1), mixed(), other, country(2)) as tab:
        assert len(tab.value(QUESTIONS)) == 4
        focus(tab, "#entity")
        tab.press(*"ANNE")
        tab.wait("document.getElementById('count').textContent.startsWith('1 of')")
        assert tab.value(QUESTIONS) == ["Other?"]
        assert tab.value("document.querySelector('.row .under').textContent") == "o · Ånne"
        set_to(tab, "#entity", "town3")
        tab.wait("document.getElementById('count').textContent.startsWith('3 of')")
        assert tab.value(QUESTIONS) == ["Which towns has country 1?", "Other?", "Which towns has country 2?"]
        set_to(tab, "#search", "country")
        assert tab.value(QUESTIONS) == ["Which towns has country 1?", "Which towns has country 2?"]
        set_to(tab, "#entity", "")
        set_to(tab, "#search", "")
        assert len(tab.value(QUESTIONS)) == 4


@needs_browser
def test_what_is_listed_is_copied_as_csv_and_as_text(opened):
    with opened(mixed()) as tab:
        tab.value(CLIPBOARD)
        options = "[...document.querySelector('#relation').options]"
        born = tab.value(f"{options}.find((option) => option.textContent.startsWith('born in')).value")
        set_to(tab, "#relation", born, "change")
        tab.value("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Copy CSV').focus()")
        tab.press("Enter")
        tab.wait("kept")
        rows = list(csv.reader(io.StringIO(tab.value("kept"))))
        assert rows[0] == [
            "score", "subject", "subject name", "relation", "relation name", "object", "object name", "path", "source",
        ]  # fmt: skip
        hostile = "'" + '=HYPERLINK("x")'
        assert rows[1:] == [["0.2", "b", "b", "born in", "born in", hostile, hostile, "", "'-x"]]
        assert tab.value("document.querySelector('.said').textContent") == (
            "1 triple copied as CSV; 3 cells that a spreadsheet would run as a formula begin with '"
        )
        set_to(tab, "#relation", "-1", "change")
        tab.value(
            "kept = ''; [...document.querySelectorAll('button')].find((b) => b.textContent === 'Copy text').click()"
        )
        tab.wait("kept")
        assert tab.value("kept").splitlines()[:3] == [
            "(Añna, directed, Film)", "(Añna, directed, javascript:alert(1))", "(Film, stars, b)",
        ]  # fmt: skip


@needs_browser
def test_only_cells_that_a_spreadsheet_would_run_are_marked_in_a_csv(opened):
    numbers = ["-5", "+5", "-5.25", "+.5", "-1e-9", "+3.E+2", "5"]
    formulas = ["=1", "+1+2", "-x", "-5-5", "-1,5", "@SUM(1)", "\tx", "\rx", "-", "+"]
    triples = tuple(Triple("a", "is", Literal.make(text)) for text in (*numbers, *formulas))
    with opened(Retrieval(Question("q", "?", (Link("a"),)), Subgraph(triples, (1.0,) * len(triples)))) as tab:
        tab.value(CLIPBOARD)
        tab.value("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Copy CSV').click()")
        tab.wait("kept")
        rows = list(csv.DictReader(io.StringIO(tab.value("kept"), newline="")))
        names = [row["object name"] for row in rows]
        assert sorted(names) == sorted([*numbers, *(f"'{text}" for text in formulas)])


@needs_browser
def test_the_drawing_is_saved_as_svg_with_labels_as_text(opened):
    with opened(mixed()) as tab:
        tab.value(
            "globalThis.files = []; const make = URL.createObjectURL;"
            " URL.createObjectURL = (blob) => { files.push(blob); return make.call(URL, blob); };"
        )
        tab.value("[...document.querySelectorAll('button')].find((b) => b.textContent === 'SVG').click()")
        root = ElementTree.fromstring(tab.value("files[0].text()"))
        texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {"Añna", "Film", "stars", "b"} <= set(texts)
        assert any("<script>" in text for text in texts)
        names = {element.tag.split("}")[1] for element in root.iter()}
        assert {"svg", "rect", "path", "text"} <= names <= {"svg", "rect", "path", "text", "title"}


@needs_browser
def test_only_web_addresses_are_links(opened):
    links = "[...document.querySelectorAll('#main a')].map((a) => a.href)"
    with opened(mixed()) as tab:
        assert set(tab.value(links)) == {"http://films.example/f1"}
        assert set(tab.value("[...document.querySelectorAll('#main a')].map((a) => a.rel)")) == {"noopener noreferrer"}


@needs_browser
def test_ids_are_links_by_the_url_of_the_exporter(opened):
    links = "[...document.querySelectorAll('#main a')].map((a) => a.href)"
    with opened(country(1), url="https://kb.example/{id}?x") as tab:
        found = set(tab.value(links))
        assert {"https://kb.example/c1?x", "https://kb.example/town3?x"} <= found
        assert all(link.startswith("https://kb.example/") for link in found)


@pytest.mark.parametrize("url", ["javascript:{id}", "https://kb.example/"])
def test_a_url_without_web_address_or_place_for_the_id_is_refused(tmp_path, url):
    with pytest.raises(SettingsError, match="url must begin with https://"):
        Page(path=str(tmp_path / "page.html"), url=url)


@needs_browser
def test_hostile_labels_stay_text_in_lists_of_relations_and_in_the_search(opened):
    with opened(EVIL, mixed(), title="Fine") as tab:
        set_to(tab, "#entity", "line")
        tab.wait("document.getElementById('count').textContent.startsWith('1 of')")
        assert tab.value("document.querySelectorAll('#main img, #main script, #side img').length") == 0
        options = tab.value("[...document.querySelectorAll('#relation option')].map((o) => o.textContent)")
        assert f"{TAGS} (1)" in options
        assert tab.value("document.title") == "Fine"


@needs_browser
def test_every_control_has_a_name_and_is_reached_by_tab(opened):
    with opened(mixed(), country(1)) as tab:
        unnamed = tab.value(
            "[...document.querySelectorAll('button, input, select')].filter((e) => !(e.textContent.trim()"
            " || e.getAttribute('aria-label') || (e.labels && e.labels.length))).map((e) => e.outerHTML)"
        )
        assert unnamed == []
        reached = set()
        for _ in range(60):
            tab.press("Tab")
            reached.add(tab.value("document.activeElement.id || document.activeElement.textContent"))
            outline = tab.value("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none" or tab.value("document.activeElement === document.body")
        assert {"search", "entity", "list", "most", "least", "hop", "relation", "weigh"} <= reached
        assert {"−", "+", "Fit", "SVG", "Copy CSV", "Copy text"} <= reached


def read(**fields):
    """A question with a reader's answer: two hops prove it, and three towns stand beside them."""
    triples = [Triple("a", "directed", "f"), Triple("f", "born in", "b"), Triple("a", "name", Literal('"A"'))]
    triples += [Triple("a", "town", f"t{i}") for i in range(3)]
    paths = (RankedPath("a", (Step("directed"), Step("born in")), 2.0), RankedPath("a", (Step("town"),), 1.0))
    subgraph = Subgraph(tuple(triples), (0.1, 0.2, 0.9, 0.8, 0.7, 0.6), paths, (0, 0, -1, 1, 1, 1))
    labels = {"a": "Anna", "b": "Bern", TAGS: "no"}
    return Retrieval(Question("r", "Where?", (Link("a"),)), subgraph, Answer(**fields), labels)


PROVEN = {"text": "Bern", "entities": ("b",), "support": (0, 1), "certainty": "unsure"}
SENTENCE = "document.querySelector('.reply .sentence').textContent"
LIT = "[...document.querySelectorAll('tbody tr.lit')].map((row) => Number(row.dataset.i))"


def test_the_data_of_a_page_have_the_answer_in_words():
    others = (Alternative("t0 and t1", ("t0", "t1"), 1), Alternative("none"))
    data = page_data(read(**PROVEN, complete=False, alternatives=others))
    assert data["said"] == {
        "line": "Perhaps Bern",
        "refusal": "",
        "certainty": "unsure",
        "others": [["t0 and t1", 1], ["none", -1]],
    }
    assert data["notes"] == ["not all was read, so there may be more"]
    assert [data["terms"][term][0] for term in data["answer"]] == ["b"]
    refused = page_data(read(enough=False, missing="nobody directs"))
    assert (refused["said"]["refusal"], refused["said"]["line"], refused["answer"]) == ("nobody directs", "", [])
    assert page_data(country(1))["said"] is None


@needs_browser
def test_an_answer_stands_in_a_sentence_above_its_proof_and_other_answers(opened):
    others = (Alternative("t0, t1 and t2", ("t0", "t1", "t2"), 1), Alternative(TAGS))
    with opened(read(**PROVEN, alternatives=others), max_triples=2) as tab:
        assert tab.value(SENTENCE) == "★Perhaps Bernunsure"
        rows = "[...document.querySelectorAll('.reply .path')].map((row) => row.textContent)"
        assert tab.value(rows) == ["Anna→directed→f", "f→born in→Bern"]
        chips = "[...document.querySelectorAll('.reply .others .chip')].map((chip) => chip.textContent)"
        assert tab.value(chips) == ["t0, t1 and t2", TAGS]
        assert tab.value("document.querySelectorAll('#main img, #main script').length") == 0
        tab.value("document.querySelector('.reply .chip').dispatchEvent(new MouseEvent('mouseenter'))")
        assert tab.value(LIT) == [3, 4, 5]
        tab.value("document.querySelector('.reply .path').dispatchEvent(new MouseEvent('mouseenter'))")
        assert tab.value(LIT) == [0]


@needs_browser
def test_what_proves_an_answer_is_drawn_before_other_triples_and_marked(opened):
    with opened(read(**PROVEN), max_triples=2) as tab:
        assert tab.value(DRAWN) == "2 of 6 triples drawn"
        drawn = "[...document.querySelectorAll('.sheet .relation')].map((e) => [e.textContent, e.className])"
        assert sorted(tab.value(drawn)) == [["born in", "relation proof"], ["directed", "relation proof"]]
        marked = "[...document.querySelectorAll('tbody tr.proof')].map((row) => Number(row.dataset.i))"
        assert tab.value(marked) == [0, 1]
        assert "proves it" in tab.value("document.querySelector('.legend').textContent")
        tab.value(CLIPBOARD)
        tab.value("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Copy CSV').click()")
        tab.wait("globalThis.kept !== ''")
        rows = list(csv.reader(io.StringIO(tab.value("globalThis.kept"))))
        assert [row[rows[0].index("proof")] for row in rows] == ["proof", "yes", "yes", "", "", "", ""]


@needs_browser
def test_a_refusal_says_what_is_missing_and_marks_nothing(opened):
    with opened(read(enough=False, missing=f"nobody directs {TAGS}"), country(1)) as tab:
        assert tab.value("document.querySelector('.reply').textContent") == f"No answer: nobody directs {TAGS}"
        assert tab.value("document.querySelectorAll('.proof, .is-said').length") == 0
        focus(tab, "#main")
        tab.press("j")
        assert tab.value("document.querySelector('.reply') === null")
    failed = Retrieval(Question("f", "Who?"), answer=Answer(enough=False, missing="no name"), error="no link")
    with opened(failed) as tab:
        assert tab.value("[...document.querySelectorAll('.notice')].map((e) => e.textContent)") == [
            "No answer: no name"
        ]


@needs_browser
def test_entities_that_the_graph_lacks_are_told_without_an_answer_too(opened):
    lacking = {"absent_links": ["Q9"]}
    refused, plain, failed = read(enough=False, missing="nothing"), country(1), Retrieval(Question("f", "Who?"))
    told = [attrs.evolve(r, subgraph=attrs.evolve(r.subgraph, trace=lacking)) for r in (refused, plain, failed)]
    with opened(read(**PROVEN), *told) as tab:
        focus(tab, "#main")
        notes = "[...document.querySelectorAll('#main > .note, #main p.note')].map((e) => e.textContent)"
        for count in (0, 1, 1, 1):
            assert tab.value(notes).count("the graph lacks Q9, which the question was linked to as well") == count
            tab.press("j")


CONTRAST = """((part) => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/\\d+/g).map((n) => (n / 255 <= 0.03928 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ink = light(getComputedStyle(part).color), ground = light(getComputedStyle(part.closest('.reply')).backgroundColor);
  return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
})(document.querySelector('.reply %s'))"""  # noqa: E501


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_an_answer_fits_a_phone_and_can_be_read(opened, dark):
    long = {**PROVEN, "text": "Bern" * 60, "alternatives": (Alternative("t" * 200, (), 1),)}
    with opened(read(**long)) as tab:
        tab.look(390, 844, dark=dark, phone=True)
        assert tab.value("document.documentElement.scrollWidth") == 390
        for part in ("strong", ".certainty", ".label", ".badge", ".path i"):
            assert tab.value(CONTRAST % part) >= 4.5, part


def found(question, *triples, labels=None, answers=("c",)):
    graph = Subgraph(tuple(Triple(*t) for t in triples), tuple(1 - n / 10 for n in range(len(triples))))
    return Retrieval(
        Question(question, f"What of {question}?", (Link("a"),), answers=answers), graph, labels=labels or {}
    )


AB, BC, AD, DE = ("a", "r", "b"), ("b", "s", "c"), ("a", "r", "d"), ("d", "t", "e")
FIRST = (found("q1", AB, BC, labels={"a": "Anna"}), found("q2", AB), found("only-first", AB))
SECOND = (found("only-second", AD), found("q2"), found("q1", AD, AB, DE, labels={"b": "Bert", TAGS: "no"}))


@pytest.fixture
def two(tmp_path):
    other = tmp_path / "bfs.jsonl"
    other.write_text("".join(dumps(record_from_retrieval(one)) + "\n" for one in SECOND))
    return {"against": str(other), "names": ["beam", "bfs"]}


def index_of(path):
    return json.loads(Scripts(path.read_text(encoding="utf-8")).found["index-data"])


def test_two_methods_share_a_table_of_terms_and_labels():
    data = pair_data(FIRST[0], SECOND[2])
    labels = {row[0]: row[1] for row in data["terms"] if len(row) > 1}
    assert labels == {"a": "Anna", "b": "Bert"}
    ids = [[[data["terms"][term][0] for term in triple[:3]] for triple in side["triples"]] for side in data["sides"]]
    assert ids == [[["a", "r", "b"], ["b", "s", "c"]], [["a", "r", "d"], ["a", "r", "b"], ["d", "t", "e"]]]
    assert pair_data(None, SECOND[0])["sides"][0] is None


def test_the_questions_of_two_methods_are_matched_by_id_and_those_of_one_alone_are_kept(tmp_path, two):
    assert index_of(page(tmp_path, *FIRST, **two)) == [
        {"id": "q1", "q": "What of q1?", "state": ["found", "missed"], "n": [2, 3], "both": 1},
        {"id": "q2", "q": "What of q2?", "state": ["missed", "empty"], "n": [1, 0], "both": 0},
        {"id": "only-first", "q": "What of only-first?", "state": ["missed", "absent"], "n": [1, None], "both": 0},
        {"id": "only-second", "q": "What of only-second?", "state": ["absent", "missed"], "n": [None, 1], "both": 0},
    ]


def test_a_page_with_the_first_questions_alone_takes_no_others_from_the_second_file(tmp_path, two):
    path = page(tmp_path, *FIRST[:2], **two, total=4)
    assert [entry["id"] for entry in index_of(path)] == ["q1", "q2"]
    assert json.loads(Scripts(path.read_text()).found["summary-data"])["total"] == 4


def test_two_methods_without_a_common_question_leave_no_page(tmp_path, two):
    with pytest.raises(DriverError, match="has the id of a question of beam; give results for the same questions"):
        page(tmp_path, country(7), **two)
    assert [file.name for file in tmp_path.iterdir()] == ["bfs.jsonl"]


@pytest.mark.parametrize("names", [["beam"], ["beam", "beam"], ["beam", ""], ["a", "b", "c"]])
def test_two_methods_need_two_names(tmp_path, two, names):
    with pytest.raises(SettingsError, match="names must be two different names"):
        page(tmp_path, **{**two, "names": names})


def test_a_second_file_that_does_not_exist_is_told_before_the_run(tmp_path):
    driver = Page(path=str(tmp_path / "page.html"), against=str(tmp_path / "none.jsonl"))
    assert driver.preflight() == [("against", f"{tmp_path / 'none.jsonl'} does not exist; correct the path")]


SIDES = "[...document.querySelectorAll('table')].map((t) => [...t.tBodies[0].rows].map((row) => [...row.cells].slice(2, 6).map((c) => (c.querySelector('[dir]') || c).textContent).join(' ')))"  # noqa: E501
OWN = "[...document.querySelectorAll('.stage')].map((s) => [...s.querySelectorAll('.edge')].map((e) => e.classList.contains('own')))"  # noqa: E501


@needs_browser
def test_two_subgraphs_stand_beside_one_another_and_mark_what_they_share(opened, two):
    with opened(*FIRST, **two) as tab:
        counts = "[...document.querySelectorAll('article > section > .numbers div')].map((d) => d.textContent)"
        assert tab.value(counts) == ["triples in both1", "only in beam1", "only in bfs2"]
        assert tab.value(SIDES) == [
            ["Anna r Bert both", "Bert s c only here"],
            ["Anna r d only here", "Anna r Bert both", "d t e only here"],
        ]
        assert [sorted(side) for side in tab.value(OWN)] == [[False] * 2 + [True] * 2, [False] * 2 + [True] * 3]
        dashes = "[...document.querySelectorAll('.stage .edge')].map((e) => [e.classList.contains('own'), getComputedStyle(e).strokeDasharray !== 'none'])"  # noqa: E501
        assert all(own == dashed for own, dashed in tab.value(dashes))
        boxes = (
            "[...document.querySelectorAll('.stage')].map((s) => s.getBoundingClientRect()).map((b) => [b.left, b.top])"
        )
        (x1, y1), (x2, y2) = tab.value(boxes)
        assert (x1 < x2, y1) == (True, y2)
        tab.look(390, 844, phone=True)
        (x1, y1), (x2, y2) = tab.value(boxes)
        assert (x1, y1 < y2) == (x2, True)
        assert tab.value("document.documentElement.scrollWidth") == 390


@needs_browser
def test_filters_hold_for_both_methods(opened, two):
    with opened(*FIRST, **two) as tab:
        set_to(tab, "#part", "both", "change")
        assert tab.value(SIDES) == [["Anna r Bert both"], ["Anna r Bert both"]]
        assert tab.value("[drawn.textContent, document.getElementById('drawn-2').textContent]") == [
            "1 of 2 triples drawn", "1 of 3 triples drawn",
        ]  # fmt: skip
        set_to(tab, "#part", "one", "change")
        assert [len(side) for side in tab.value(SIDES)] == [1, 2]
        focus(tab, "#hop")
        tab.press("ArrowDown")
        assert tab.value(SIDES) == [[], ["Anna r d only here"]]
        set_to(tab, "#hop", "Infinity", "change")
        set_to(tab, "#part", "", "change")
        set_to(tab, "#least-2", "0.95")
        assert [len(side) for side in tab.value(SIDES)] == [2, 1]
        focus(tab, "#most")
        tab.press("Home")
        assert tab.value("drawn.textContent") == "1 of 2 triples drawn"


@needs_browser
def test_questions_of_two_methods_are_found_by_outcome_and_by_entities_of_either(opened, two):
    press = "[...document.querySelectorAll('#filters button')].find((b) => b.getAttribute('aria-label').startsWith({!r})).click()"  # noqa: E501
    with opened(*FIRST, **two) as tab:
        tab.value(press.format("beam: ✗no answer"))
        assert tab.value(QUESTIONS) == ["What of q2?", "What of only-first?"]
        tab.value(press.format("bfs: –not in the file"))
        assert tab.value(QUESTIONS) == ["What of only-first?"]
        tab.value(press.format("beam: ✗no answer"))
        tab.value(press.format("bfs: –not in the file"))
        set_to(tab, "#entity", "e")
        tab.wait("document.getElementById('count').textContent.startsWith('1 of')")
        assert tab.value(QUESTIONS) == ["What of q1?"]


@needs_browser
def test_a_question_of_one_file_alone_is_shown_with_a_sentence(opened, two):
    with opened(*FIRST, **two, place="#only-second") as tab:
        assert tab.value("document.querySelector('.notice').textContent") == "beam has no record of this question."
        assert tab.value("document.querySelectorAll('.stage').length") == 1
        assert tab.value("document.querySelectorAll('.legend svg').length") == 0
        tab.press("k", "k")
        assert tab.value("document.querySelector('.notice').textContent").startswith("Nothing was retrieved.")


@needs_browser
def test_keys_zoom_the_drawing_that_is_chosen_or_both(opened, two):
    zooms = "[...document.querySelectorAll('.sheet')].map((s) => Number(s.style.transform.match(/scale\\((.*)\\)/)[1]))"
    with opened(*FIRST, **two) as tab:
        before = tab.value(zooms)
        tab.press("-")
        assert tab.value(zooms) == pytest.approx([zoom / 1.25 for zoom in before])
        tab.value("document.querySelectorAll('.stage')[1].focus()")
        tab.press("-")
        assert tab.value(zooms) == pytest.approx([before[0] / 1.25, before[1] / 1.25**2])


@needs_browser
def test_a_copy_of_one_of_two_methods_says_what_both_have(opened, two):
    with opened(*FIRST, **two) as tab:
        tab.value(CLIPBOARD)
        tab.value("[...document.querySelectorAll('button')].filter((b) => b.textContent === 'Copy CSV')[1].click()")
        tab.wait("kept")
        rows = list(csv.DictReader(io.StringIO(tab.value("kept"))))
        assert [(row["object"], row["in"]) for row in rows] == [("d", "only bfs"), ("b", "both"), ("e", "only bfs")]


@needs_browser
def test_the_page_says_what_it_leaves_out(opened):
    empty = Retrieval(Question("e", "Where?"))
    with opened(country(1), country(2), empty, max_triples=5, total=1200) as tab:
        assert tab.value("document.getElementById('omitted').textContent") == (
            "The first 3 of 1,200 questions are on this page. 1 subgraph has no triples. 2 subgraphs have more than 5"
            " triples: so many are drawn at first, routes to answers before others; the tables list all."
        )
    with opened(mixed(), country(1)) as tab:
        assert tab.value("document.getElementById('omitted').hidden")


@needs_browser
def test_a_notebooks_frame_shows_one_question_without_list_and_its_drawing_at_once(opened, tmp_path):
    content = page(tmp_path, country(1)).read_text(encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text(f'<iframe srcdoc="{html.escape(content)}" width="900" height="560" title="page"></iframe>')
    with browse(frame.as_uri(), tmp_path / "profile") as tab:
        inside = "document.querySelector('iframe').contentDocument"
        tab.wait(f"{inside} && {inside}.querySelectorAll('.edge').length > 0")
        assert tab.said == []
        assert tab.value(f"{inside}.querySelector('#side').offsetWidth") == 0
        assert tab.value(f"{inside}.querySelector('.stage').getBoundingClientRect().top") < 280


WHERE = "document.querySelector('.where') && document.querySelector('.where').textContent"


@needs_browser
def test_a_page_with_files_beside_it_is_used_by_keyboard_as_any_page(opened, small):
    with opened(EVIL, *map(country, range(20)), place="#q7") as tab:
        tab.wait(f"{WHERE} === 'q7'")
        assert len(tab.requested) == 2
        assert tab.value("document.querySelector('#main').hasAttribute('aria-busy')") is False
        focus(tab, "#main")
        tab.press(*"kkkkkkkk")
        tab.wait(f"{WHERE} === 'q-evil'")
        assert tab.value("document.title") == "Retrieved subgraphs"
        assert tab.value("document.querySelectorAll('#main img, #main script').length") == 0
        focus(tab, "#list")
        tab.press("End")
        tab.wait(f"{WHERE} === 'q19'")
        assert tab.value("document.querySelector('[aria-selected=true] .words').textContent").endswith("country 19?")
        assert tab.value("document.querySelectorAll('.edge').length") > 5
        set_to(tab, "#entity", "c13")
        tab.wait("document.getElementById('count').textContent.startsWith('1 of')")
        assert tab.value(QUESTIONS) == ["Which towns has country 13?"]
        assert tab.value("document.querySelectorAll('script').length") == 3


@needs_browser
def test_a_page_says_which_of_its_files_is_missing_or_of_another_page(tmp_path, small):
    path = page(tmp_path, *map(country, range(9)))
    (tmp_path / "page-data" / "part-0.js").unlink()
    with browse(path.as_uri(), tmp_path / "profile") as tab:
        alert = "document.querySelector('[role=alert]') && document.querySelector('[role=alert]').textContent"
        tab.wait(f"({alert} || '').startsWith('page-data/part-0.js cannot be read; keep the folder page-data beside')")
        set_to(tab, "#entity", "c1")
        tab.wait("document.getElementById('count').textContent.includes('part-0.js cannot be read')")
    page(tmp_path, *map(country, range(9)))
    part = tmp_path / "page-data" / "part-0.js"
    part.write_text(part.read_text("utf-8").replace("srtkPart('", "srtkPart('0"), encoding="utf-8")
    with browse(path.as_uri(), tmp_path / "profile") as tab:
        tab.wait(f"({alert} || '').startsWith('page-data/part-0.js belongs to another page')")
