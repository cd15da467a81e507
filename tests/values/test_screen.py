"""Whatever a text holds, a terminal shows it: nothing steers the terminal, reorders text or is invisible."""

from __future__ import annotations

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.values import console, escaped, guarded, on_one_line, unguarded

TEXTS = st.text(st.characters(codec=None), max_size=20)
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
HOSTILE = "a\x1b[31mb\u202ec\u200bd\x00e\r\x9b7m\u2028\ufeff"
# Signs of the category Cf that are seen: they stand above or below digits.
SEEN = {*"\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd", "\t", "\n"}


def unsafe(text: str) -> set[str]:
    """Return the characters of a text that a terminal obeys or hides, by their Unicode category."""
    signs = {char for char in text if unicodedata.category(char) in INVISIBLE} - SEEN
    return {char for char in signs if not "\U00013430" <= char <= "\U0001345f" and not char >= "\U0001bca0"}


@given(TEXTS)
def test_no_character_that_a_terminal_obeys_or_hides_is_left(text: str) -> None:
    assert unsafe(escaped(text)) <= {"\u200c", "\u200d"}
    assert unsafe(on_one_line(text)) <= {"\u200c", "\u200d"}


@given(TEXTS)
def test_json_with_escaped_characters_means_the_same(text: str) -> None:
    assert json.loads(escaped(json.dumps(text, ensure_ascii=False))) == text


@given(TEXTS)
def test_an_escaped_text_stays_as_it_is(text: str) -> None:
    assert escaped(escaped(text)) == escaped(text)


@pytest.mark.parametrize("text", ["می\u200cخواهم", "क\u094d\u200dष", "👩\u200d🔬", "ünïcode — “text”", "a\tb\nc"])
def test_words_of_any_script_stay_as_they_are(text: str) -> None:
    assert escaped(text) == text


@pytest.mark.parametrize("text", ["a\u200db", "\u200cx", "ü\u200d\u200dü", "ü\u200d", "\u200bü"])
def test_a_joiner_that_joins_no_letters_is_shown(text: str) -> None:
    assert unsafe(escaped(text)) == set()


def test_a_line_feed_is_escaped_where_a_text_has_one_line() -> None:
    assert escaped("a\nsrtk: error: forged", lines=False) == "a\\nsrtk: error: forged"
    assert on_one_line(" a\n\tb  c ") == "a b c"


def test_all_that_is_printed_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    with guarded():
        print(HOSTILE)
        print(HOSTILE, file=sys.stderr)
        sys.stdout.writelines([HOSTILE])
        with guarded():
            print("\x1b")
        assert unguarded(sys.stdout) is before[0]
    assert (sys.stdout, sys.stderr) == before
    out, err = capsys.readouterr()
    assert unsafe(out + err) == set()
    assert "a\\u001b[31mb\\u202ec\\u200bd\\u0000e\\u000d\\u009b7m\\u2028\\ufeff" in out
    assert out.endswith("\\u001b\n")


def test_what_an_encoding_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.TextIOWrapper(io.BytesIO(), "ascii", "strict")
    monkeypatch.setattr(sys, "stdout", raw)
    with guarded():
        print("é 😀 ok")
        console().print("é")
    raw.flush()
    assert raw.buffer.getvalue() == b"\\u00e9 \\ud83d\\ude00 ok\n\\u00e9\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_console_escapes_texts_and_keeps_its_own_styles(terminal: bool, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    screen = console(force_terminal=terminal, width=200)
    laid = Table(title=HOSTILE)
    laid.add_column(HOSTILE)
    laid.add_row(HOSTILE, style="bold")
    laid.add_row(Text("[red]\x1b[32m"))
    screen.print(laid)
    screen.print("[link=https://x.example]x[/link]", HOSTILE, style="bold", soft_wrap=True)
    out = capsys.readouterr().out
    assert ("\x1b[1m" in out) == terminal
    assert "[red]\\u001b[32m" in out
    assert "[link=https://x.example]x[/link] a\\u001b[31mb\\u202ec" in out
    assert out.count("\x1b[31m") == out.count("\x1b[32m") == out.count("\x00") == out.count("\u202e") == 0


def test_what_is_printed_while_a_bar_is_shown_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.progress import Progress

    with guarded():
        screen = console(force_terminal=True)
        with Progress(console=screen) as bar:
            bar.add_task("\x1b[35m")
            print("hidden\x1b[31m\x1b]8;;https://x.example\x1b\\link")
            print("late\x1b[32m", file=sys.stderr)
    out = capsys.readouterr().out
    assert "hidden\\u001b[31m\\u001b]8;;https://x.example\\u001b\\link" in out
    assert "late\\u001b[32m" in out
