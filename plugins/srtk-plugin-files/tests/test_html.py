import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from srtk_plugin_files.html import Page, page_data

from srtk_framework.values import Answer, Link, Literal, Question, RankedPath, Retrieval, Step, Subgraph, Triple

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
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
    assert data["answer"][1] == "free text"


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


def test_retrievals_go_to_disk_as_they_come(tmp_path):
    driver = Page(path=str(tmp_path / "page.html"))
    driver.open()
    for i in range(100):
        driver.write([country(i)])
    part = tmp_path / ".page.html.part"
    assert part.stat().st_size > 100_000
    driver.abort()
    assert list(tmp_path.iterdir()) == []


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
