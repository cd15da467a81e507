"""The page to ask, in a browser, from a real server: neighbours, corrected links, faults, hostile names."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from chromium import BROWSER, browse
from litestar.testing import TestClient
from service import served

ROOT = Path(__file__).parents[3]
WORLD = ROOT / "build" / "demo" / "world" / "triples.tsv"
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

TAGS = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
TURNED = "\u202eevil\u202c"
ROWS = (
    "film,directed by,about,year\nAlien,Ridley Scott,space,1979\nHeat,Michael Mann,crime,1995\n"
    + f'Hostile,"{TAGS.replace(chr(34), chr(34) * 2)}",{TURNED},2001\n'
    + f"Long,{'x' * 300},{'y' * 300},2003\n"
    + "".join(f"Part {i},Ridley Scott,space,2002\n" for i in range(120))
)
PLAIN = "textContent.replace(/[\\u2068\\u2069]/g, '')"
SAID = f"document.getElementById('status').{PLAIN}"
SENTENCE = "(document.querySelector('.sentence strong') || {}).textContent"
DRAWN = f"document.getElementById('drawn').{PLAIN}"
FAULT = "(document.querySelector('.notice') || {}).textContent"


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a table of films with the drivers of `srtk serve`."""
    folder = tmp_path_factory.mktemp("films")
    (folder / "films.csv").write_text(ROWS, encoding="utf-8")
    with served(folder, str(folder / "films.csv")) as (address, _):
        yield address


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open an address in a browser; nothing may have failed there, and nothing been asked of others."""
    seen = []

    @contextmanager
    def open_page(address: str, place: str = "/", faults: bool = False) -> Iterator[Any]:
        with browse(address + place, tmp_path / "profile") as tab:
            yield tab
            seen.append((address, tab.requested, [] if faults else tab.said))

    yield open_page
    for address, requested, said in seen:
        assert requested
        assert [url for url in requested if not url.startswith((address, "about:", "data:", "blob:"))] == []
        assert said == []


def ask(tab: Any, question: str) -> None:
    tab.click("textbox", "Question")
    tab.type(question)
    tab.click("button", "Ask")


def test_the_page_allows_nothing_from_elsewhere_and_no_script_within(client: TestClient[Any]) -> None:
    for path, kind in {"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css"}.items():
        found = client.get(path)
        assert found.headers["content-type"] == f"{kind}; charset=utf-8"
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
    page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert " on" not in page.replace(" on ", "")


def test_the_page_needs_no_token_and_its_data_do(start: Any) -> None:
    client = start(token="s3cret")
    assert [client.get(path).status_code for path in ("/", "/page.js", "/page.css", "/page.svg")] == [200] * 4
    assert client.get("/page/examples").status_code == 401
    assert client.post("/page/ask", json={"question": "Who directed Alien?"}).status_code == 401
    assert client.post("/page/expand", json={"entities": ["Alien"]}).status_code == 401


def test_examples_are_short_questions_of_the_recipe(start: Any, tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("".join(f"Question {i}?\n" for i in range(9)) + "x" * 90 + "\n", encoding="utf-8")
    questions = {"questions": str(path)}
    assert start(questions).get("/page/examples").json() == ["Question 0?", "Question 3?", "Question 6?"]
    assert start().get("/page/examples").json() == []
    path.unlink()
    assert start(questions).get("/page/examples").json() == []


@needs_browser
def test_neighbours_unfold_at_a_click_with_the_number_of_the_others(films: str, opened: Any) -> None:
    with opened(films) as tab:
        ask(tab, "Who directed Heat?")
        tab.wait(f"{SENTENCE} === 'Michael Mann'")
        assert tab.value("document.querySelector('.reply .path .way').textContent") == "Heat→directed by→Michael Mann"
        assert "local:" in tab.value("document.querySelector('.reply .path .gives').textContent")
        ask(tab, "Who directed Alien?")
        tab.wait(f"{SENTENCE} === 'Ridley Scott'")
        edges = "document.querySelectorAll('.sheet .edge').length"
        folded = tab.value(edges)
        tab.click("button", "space")
        tab.wait(f"{DRAWN}.includes('neighbours of space added, ')")
        assert tab.value(DRAWN).endswith(" more")
        place = "document.activeElement.textContent"
        assert tab.value(place) == "space"
        assert tab.value("document.activeElement.getAttribute('aria-expanded')") == "true"
        assert tab.value(edges) > folded
        rest = [name for name, _ in tab.nodes("button") if name.endswith(" more")]
        assert rest
        counted = tab.value(DRAWN)
        tab.click("button", rest[-1])
        tab.wait(f"{DRAWN}.includes('of space added') && {DRAWN} !== {counted!r}")
        tab.click("button", "space")
        tab.wait(f"{DRAWN}.includes('folded')")
        assert tab.value(edges) == folded
        tab.press("Enter")
        tab.wait(f"{DRAWN}.includes('of space added')")


@needs_browser
def test_a_question_without_a_link_says_so_and_an_entity_is_found_by_name(films: str, opened: Any) -> None:
    with opened(films, "/?q=" + quote("Who directed Zzyzx?")) as tab:
        tab.wait(f"{FAULT} !== undefined")
        assert "nothing of the graph is called Zzyzx" in tab.value(FAULT)
        assert "Zzyzx" in tab.value(SAID)
        tab.click("searchbox", "Name or id")
        tab.type("nobody at all")
        tab.press("Enter")
        tab.wait("document.querySelector('.choices [role=status]').textContent.startsWith('No entity is called')")
        tab.type("heat")
        tab.click("button", "Search")
        tab.click("button", "Heat")
        tab.wait(f"{SENTENCE} === 'Michael Mann'")
        assert tab.value("document.activeElement.textContent") == "Answer"
        tab.click("button", "Undo my choice")
        tab.wait(f"({FAULT} || '').includes('Zzyzx')")
        assert "link=" not in tab.value("location.href")


@needs_browser
def test_an_entity_that_the_graph_lacks_is_told_where_there_is_no_answer(films: str, opened: Any) -> None:
    with opened(films, "/?q=" + quote("Is Alien older than Heat?") + "&link=,,Alien&link=,,Zzyzx") as tab:
        tab.wait("document.querySelector('.answer') !== null")
        assert tab.value("document.querySelector('.answer .notice').textContent").startswith("No answer: ")
        told = tab.value("[...document.querySelectorAll('.answer .note')].map((e) => e.textContent)")
        assert told.count("the graph lacks Zzyzx, which the question was linked to as well") == 1


@needs_browser
def test_hostile_names_stay_text(films: str, opened: Any) -> None:
    with opened(films, "/?q=" + quote("Who directed Hostile?")) as tab:
        tab.wait(f"{SENTENCE} !== undefined")
        assert tab.value(SENTENCE) == TAGS
        tab.click("button", TAGS)
        tab.wait(f"{DRAWN}.includes('added')")
        tab.click("button", "Change")
        tab.wait("document.querySelector('.offers button') !== null")
        tab.click("searchbox", "Name or id")
        tab.type(TURNED)
        tab.press("Enter")
        tab.wait("document.querySelector('.choices [role=status]').textContent.includes('evil')")
        assert tab.value("document.querySelectorAll('main img[src=x], main script').length") == 0
        assert tab.value("document.title") == "Who directed Hostile? – Ask the graph"
        loose = f"[...document.querySelectorAll('main *')].filter((e) => !e.children.length && !e.closest('[dir]') && e.textContent.replace(/\\u2068[^\\u2069]*\\u2069/g, '').includes({TURNED!r})).map((e) => e.outerHTML)"  # noqa: E501
        assert tab.value(loose) == []


@needs_browser
def test_a_busy_service_is_asked_again_and_a_late_one_on_demand(films: str, opened: Any) -> None:
    with opened(films) as tab:
        tab.value(
            "globalThis.answers = [503]; globalThis.fetched = fetch; globalThis.fetch = (path, asked) => path ==="
            " 'page/ask' && answers.length ? Promise.resolve(new Response('{}', {status: answers.shift(),"
            " headers: {'Retry-After': '1'}})) : fetched(path, asked); 0"
        )
        ask(tab, "Who directed Alien?")
        tab.wait(f"{SAID}.includes('Asking again in 1 second')")
        tab.wait(f"{SENTENCE} === 'Ridley Scott'")
        tab.value("answers.push(504)")
        ask(tab, "Who directed Heat?")
        tab.wait(f"{FAULT} === 'There was no answer within the time limit.'")
        tab.click("button", "Ask again")
        tab.wait(f"{SENTENCE} === 'Michael Mann'")


@needs_browser
def test_a_token_is_asked_for_and_a_service_that_is_gone_is_told(tmp_path: Path, opened: Any) -> None:
    table = tmp_path / "films.csv"
    table.write_text(ROWS, encoding="utf-8")
    arguments = [str(table), "--token", "SRTK_TEST_TOKEN"]
    with served(tmp_path, *arguments) as (address, process), opened(address, faults=True) as tab:
        ask(tab, "Who directed Alien?")
        tab.wait(f"{FAULT} === 'This service wants a token. Enter it above.'")
        tab.type("wrong")
        tab.press("Enter")
        tab.wait(f"{FAULT} === 'The token is not right.'")
        tab.type("s3cret")
        tab.click("button", "Use it")
        tab.wait(f"{SENTENCE} === 'Ridley Scott'")
        assert tab.value("sessionStorage.length + localStorage.length") == 1
        assert "s3cret" not in tab.value("location.href + document.body.innerHTML")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        ask(tab, "Who directed Heat?")
        tab.wait(f"({FAULT} || '').startsWith('The service does not answer.')")


@needs_browser
def test_without_scripts_the_page_says_what_to_do(films: str, opened: Any) -> None:
    with opened(films) as tab:
        tab.call("Emulation.setScriptExecutionDisabled", value=True)
        tab.call("Page.reload")
        texts: list[str] = []
        while not texts:
            texts = [name for name, _ in tab.nodes("StaticText") if "JavaScript" in name]


@needs_browser
def test_an_address_holds_a_question_with_its_links_and_a_wrong_address_is_told(films: str, opened: Any) -> None:
    with opened(films, "/?q=Who+directed+it%3F&link=,,Heat&link=nonsense", faults=True) as tab:
        tab.wait(f"{SENTENCE} === 'Michael Mann'")
        assert tab.value("document.querySelector('.understood').textContent").startswith("●Heatby your choice")
        tab.go(films + "/?q=Who+directed+it%3F&link=0,999,Heat")
        tab.wait(f"({FAULT} || '').includes('give its place there, or none.')")
        tab.go(films + "/?q=Who+directed+it%3F&link=,,Nobody")
        tab.wait(f"({FAULT} || '').startsWith('No answer')")


LOOKED_AT = ("Who directed Alien?", "Who directed Hostile?", "Who directed Long?", "Zzyzx" * 40)


@needs_browser
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_never_wider_than_the_screen(films: str, opened: Any, width: int) -> None:
    with opened(films) as tab:
        tab.look(width, 800, phone=width < 400)
        for question in LOOKED_AT:
            ask(tab, question)
            tab.wait(f"{SAID} !== 'Asking …' && document.title.startsWith({question!r})")
            for name, _ in tab.nodes("button"):
                if name.startswith("Change") or name == "space":
                    tab.click("button", name)
                if name.startswith("Change"):
                    tab.wait("document.querySelector('.offers .about') !== null")
            tab.value("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
            assert tab.value("document.documentElement.scrollWidth") <= width, question


@needs_browser
@pytest.mark.slow
@pytest.mark.skipif(not WORLD.is_file(), reason="no build/demo/world; `make demo` builds it")
def test_three_questions_are_asked_and_a_wrong_link_corrected_by_labels_and_roles_alone(
    tmp_path: Path, opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    recipe = ["recipes/quickstart.yaml", "--set", "reader={use: paths}"]
    with served(tmp_path, *recipe) as (address, _), opened(address) as tab:
        says(tab, "link", "Where does the government of Azerbaijan sit?")
        tab.click("link", "Where does the government of Azerbaijan sit?")
        says(tab, "status", "Baku")
        ask(tab, "Which countries share a border with Latvia?")
        says(tab, "status", "Belarus, Estonia, Lithuania and Russia")
        ask(tab, "What is the capital of Georgia?")
        says(tab, "status", "Washington")
        tab.click("button", "Change what Georgia is")
        tab.click("button", "Georgia country/GE")
        says(tab, "status", "Tbilisi")
        tab.click("button", "Tbilisi")
        says(tab, "status", "neighbours of Tbilisi added, 61 more")
        tab.call("Page.navigateToHistoryEntry", entryId=entry(tab, -1))
        says(tab, "status", "Washington")
        tab.call("Page.navigateToHistoryEntry", entryId=entry(tab, 1))
        says(tab, "status", "Tbilisi")
        tab.call("Page.reload")  # what is shared is the address
        says(tab, "status", "Tbilisi")


def says(tab: Any, role: str, text: str) -> None:
    """Wait until a screen reader meets a text under a role."""
    spoken = f"[...document.querySelectorAll('[role={role}], {'a' if role == 'link' else '[role=none]'}')]"
    tab.wait(f"{spoken}.some((e) => e.{PLAIN}.includes({text!r}))")


def entry(tab: Any, by: int) -> int:
    history = tab.call("Page.getNavigationHistory")
    found: int = history["entries"][history["currentIndex"] + by]["id"]
    return found
