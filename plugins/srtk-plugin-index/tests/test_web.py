"""The index ``web`` against a search engine on loopback, and the ways in which one fails."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pytest
from srtk_plugin_index.indexes import web
from srtk_plugin_index.indexes.web import WebIndex, WebLimits, _request
from srtk_plugin_web import (
    Cache,
    DeniedError,
    MalformedError,
    NotCachedError,
    PartialError,
    RequestError,
    ThrottledError,
    UnavailableError,
    UnreachableError,
)

from srtk_framework.values import DriverError, Entry

PAGES = {
    "https://a.example/riga": ("Riga", "Riga is the capital of Latvia."),
    "https://b.example/jazz": ("", "Jazz in Riga"),
    "https://c.example/tallinn": ("Tallinn", ""),
}
QUICK = WebLimits(wait=0.01, wait_most=0.02, patience=20.0, attempts=3)


@pytest.fixture
def engine(engine_of):
    return engine_of(PAGES)


def index(engine, **settings) -> WebIndex:
    made = WebIndex(endpoint=settings.pop("endpoint", engine.url), limits=settings.pop("limits", QUICK), **settings)
    made.open()
    return made


def test_results_are_entries_with_their_address_and_their_description_as_passage(engine):
    (hits,) = index(engine).search(["capital Riga"], 10)
    assert [(hit.entry.id, hit.score, hit.snippet) for hit in hits] == [
        ("https://a.example/riga", -1.0, "Riga is the capital of Latvia."),
        ("https://b.example/jazz", -2.0, "Jazz in Riga"),
    ]
    assert hits[0].entry.text == "Riga\nRiga is the capital of Latvia."
    (titled,) = index(engine).search(["Tallinn"], 10)[0]
    assert (titled.span, titled.snippet) == (None, "Tallinn")


def test_a_search_says_what_the_settings_name_and_nothing_else(engine):
    index(engine).search(["Où est Riga & co?"], 1)
    index(engine, language="fr", engines=["wikipedia", "bing"], categories=["science"]).search(["Riga"], 1)
    assert engine.seen == [
        ("GET", "/search", {"q": "Où est Riga & co?", "format": "json", "pageno": "1"}),
        (
            "GET",
            "/search",
            {
                "q": "Riga",
                "format": "json",
                "pageno": "1",
                "language": "fr",
                "engines": "wikipedia,bing",
                "categories": "science",
            },
        ),
    ]


def test_a_long_text_is_sent_in_the_body(engine):
    assert index(engine).search(["Riga " * 1000], 1)[0][0].entry.id == "https://b.example/jazz"
    ((method, path, fields),) = engine.seen
    assert (method, path, fields["q"]) == ("POST", "/search", "Riga " * 1000)


def test_pages_are_read_until_there_are_enough_results(engine_of):
    pages = {f"https://x.example/{n:02}": ("", "Riga") for n in range(7)}
    engine = engine_of(pages, per_page=3)
    for k, most, wanted, read in ((3, 5, 3, 1), (4, 5, 4, 2), (50, 2, 6, 2), (50, 9, 7, 4)):
        engine.seen.clear()
        (hits,) = index(engine, pages=most).search(["Riga"], k)
        assert [hit.entry.id for hit in hits] == list(pages)[:wanted]
        assert [hit.score for hit in hits] == [-float(rank) for rank in range(1, wanted + 1)]
        assert len(engine.seen) == read


def test_an_address_that_comes_on_two_pages_is_one_hit(engine):
    same = {"results": [{"url": "https://x.example", "title": "Riga", "content": None}]}
    engine.fail((200, json.dumps(same)), (200, json.dumps(same)))
    (hits,) = index(engine, pages=9).search(["Riga"], 5)
    assert [hit.entry for hit in hits] == [Entry("https://x.example", "Riga")]
    assert len(engine.seen) == 2


def test_a_text_is_asked_for_once_in_a_run(engine):
    web = index(engine)
    assert web.search(["Riga", "Riga", "?!"], 5) == [*web.search(["Riga", "Riga"], 5), []]
    assert len(engine.seen) == 1


def test_no_results_are_no_error(engine):
    assert index(engine).search(["xyzzy"], 5) == [[]]
    assert len(engine.seen) == 1


def test_results_that_are_no_pages_are_left_out(engine):
    rows = [
        {"title": "no address"},
        "a text",
        {"url": 7},
        {"url": ""},
        {"url": "https://x.example", "title": 1, "content": " a\n b "},
    ]
    engine.fail((200, json.dumps({"results": rows})))
    assert [hit.entry for hit in index(engine).search(["Riga"], 5)[0]] == [Entry("https://x.example", "a b")]


def test_a_server_that_throttles_is_left_alone_for_as_long_as_it_asks(engine):
    engine.fail((429, "", "text/plain", ("Retry-After", "1")), None)
    start = time.monotonic()
    assert len(index(engine).search(["Riga"], 5)[0]) == 2
    assert len(engine.seen) == 2
    assert time.monotonic() - start >= 1


def test_a_server_that_asks_for_more_rest_than_there_is_patience_is_an_error(engine):
    engine.fail((429, "", "text/plain", ("Retry-After", "3600")))
    with pytest.raises(ThrottledError, match=r"fewer requests .*the search was: Riga"):
        index(engine).search(["Riga"], 5)
    assert len(engine.seen) == 1


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ((200, "<html>Are you a robot?</html>", "text/html"), MalformedError, "not JSON .text/html.*robot"),
        ((200, '{"results": [{"url": "https://x.exa'), PartialError, "breaks off"),
        ((200, ""), MalformedError, "is empty"),
        ((200, '{"error": "no"}'), MalformedError, "without a list `results`"),
        ((200, "[]"), MalformedError, "without a list `results`"),
        (
            (200, '{"results": [], "unresponsive_engines": [["bing", "timeout"], ["qwant", "CAPTCHA"]]}'),
            UnavailableError,
            "engines behind it failed: bing timeout, qwant CAPTCHA",
        ),
        ((500, "oops"), UnavailableError, "it failed .500. and says: oops"),
    ],
)
def test_what_is_no_answer_is_asked_again_and_never_taken_for_no_results(engine, wrong, error, says):
    engine.fail(wrong, wrong, None)
    assert len(index(engine).search(["Riga"], 5)[0]) == 2
    engine.fail(wrong, wrong, wrong)
    with pytest.raises(error, match=says):
        index(engine).search(["Riga"], 5)
    assert len(engine.seen) == 6


def test_results_are_kept_though_some_engine_failed(engine):
    data = {"results": [{"url": "https://x.example", "title": "Riga"}], "unresponsive_engines": [["bing", "timeout"]]}
    engine.fail((200, json.dumps(data)))
    assert len(index(engine).search(["Riga"], 5)[0]) == 1


def test_a_server_that_does_not_allow_json_is_told_apart(engine):
    engine.fail((403, "<h1>Forbidden</h1>", "text/html"))
    with pytest.raises(DeniedError, match=r"allow the format `json` under `search: formats:`"):
        index(engine).search(["Riga"], 5)
    assert len(engine.seen) == 1


def test_a_server_that_is_not_there_is_an_error():
    web = WebIndex(endpoint="http://127.0.0.1:1", limits=QUICK)
    web.open()
    with pytest.raises(UnreachableError, match=r"web search at http://127\.0\.0\.1:1/search"):
        web.search(["Riga"], 5)


def test_one_failed_search_of_several_is_an_error(engine):
    engine.fail(*[(400, "no")] * 2)
    with pytest.raises(RequestError):
        index(engine).search(["Riga", "Tallinn"], 5)


def test_a_later_run_answers_from_the_cache_without_the_server(engine, tmp_path: Path):
    file = str(tmp_path / "web.sqlite")
    online = index(engine, cache=file)
    wanted = online.search(["Riga", "xyzzy"], 5)
    online.close()
    offline = index(engine, cache=file, offline=True)
    assert offline.search(["Riga", "xyzzy"], 5) == wanted
    assert len(engine.seen) == 2
    with pytest.raises(NotCachedError, match="run once online"):
        offline.search(["Tallinn"], 5)
    assert offline.fingerprint() == online.fingerprint()


def test_offline_without_a_cache_is_refused(engine):
    with pytest.raises(DriverError, match="name it by `cache`"):
        index(engine, offline=True)


def test_nobody_fills_the_web(engine):
    web = index(engine)
    with pytest.raises(DriverError, match="cannot be filled; name another one"):
        web.add([Entry("1", "Riga")])
    assert web.size() == 0


def test_a_login_in_the_address_shows_nowhere(engine):
    web = index(engine, endpoint=engine.url.replace("http://", "http://me:secret-word@"))
    assert len(web.search(["Riga"], 5)[0]) == 2
    engine.fail(*[(500, "secret-word")] * 3)
    with pytest.raises(UnavailableError) as caught:
        web.search(["Tallinn"], 5)
    assert "secret-word" not in f"{caught.value} {web.fingerprint()}"


def test_an_address_that_is_no_url_is_found_before_a_run():
    assert WebIndex(endpoint="searx.example").preflight()[0][0] == "endpoint"
    assert WebIndex(endpoint="https://searx.example").preflight() == []


def test_an_address_of_two_thousand_characters_is_the_longest():
    fields = [("q", "Riga"), ("format", "json")]
    start = len("http://x.example/?q=Riga&format=json")
    whole = _request(f"http://x.example/{'a' * (2000 - start)}", "Riga", fields)
    assert (len(whole.url), whole.method, whole.body) == (2000, "GET", None)
    longer = _request(f"http://x.example/{'a' * (2001 - start)}", "Riga", fields)
    assert (longer.method, longer.body) == ("POST", b"q=Riga&format=json")


def test_answers_are_kept_for_thirty_days_and_offline_for_ever(engine, tmp_path, monkeypatch):
    days = []

    def cache(*arguments, **settings):
        days.append(settings["days"])
        return Cache(*arguments, **settings)

    monkeypatch.setattr(web, "Cache", cache)
    for offline in (False, True):
        index(engine, cache=str(tmp_path / "web.sqlite"), offline=offline).close()
    assert days == [30.0, None]


@pytest.mark.parametrize(("at_once", "threads"), [(2, 2), (7, 7), (None, 1)])
def test_several_searches_are_made_as_many_at_once_as_the_limits_say(engine, monkeypatch, at_once, threads):
    seen = []

    def pool(most):
        seen.append(most)
        return ThreadPoolExecutor(most)

    monkeypatch.setattr(web, "ThreadPoolExecutor", pool)
    made = index(engine, limits=attrs.evolve(QUICK, at_once=at_once))
    made.search(["Riga", "Riga"], 1)
    assert seen == []
    made.search(["Riga", "Tallinn"], 1)
    assert seen == [threads]


@pytest.mark.parametrize("failed", ["bing timeout", ["bing timeout"], [["bing", "timeout"]]])
def test_engines_that_failed_are_named_however_they_come(engine, failed):
    engine.fail(*[(200, json.dumps({"results": [], "unresponsive_engines": failed}))] * 3)
    with pytest.raises(UnavailableError, match="engines behind it failed: bing timeout"):
        index(engine).search(["Riga"], 5)
