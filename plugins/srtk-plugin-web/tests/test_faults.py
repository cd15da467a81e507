"""The errors of web services: what they say, and what the client may do after each."""

from __future__ import annotations

import pytest
from srtk_plugin_web import (
    CircuitOpenError,
    ClosedError,
    CredentialError,
    DeadlineError,
    DeniedError,
    EmptyError,
    MalformedError,
    OversizeError,
    PartialError,
    RefusedError,
    RequestError,
    ThrottledError,
    UnavailableError,
    UnreachableError,
)
from srtk_plugin_web.faults import shortened

from srtk_framework.values import DriverError

TREE = {
    # Error: may be sent again, a smaller one may succeed, counts towards the breaker, ends all.
    RequestError: (False, False, False, False),
    RefusedError: (False, False, False, False),
    DeniedError: (False, False, True, False),
    CredentialError: (False, False, True, True),
    ThrottledError: (True, False, False, False),
    UnavailableError: (True, False, True, False),
    UnreachableError: (True, False, True, False),
    DeadlineError: (True, True, True, False),
    OversizeError: (False, True, False, False),
    MalformedError: (True, False, True, False),
    EmptyError: (True, False, True, False),
    PartialError: (True, True, True, False),
    CircuitOpenError: (False, False, False, False),
    ClosedError: (False, False, False, True),
}


@pytest.mark.parametrize("kind", TREE)
def test_each_kind_says_what_may_be_done_after_it(kind: type[RequestError]) -> None:
    assert (kind.transient, kind.divisible, kind.counted, kind.fatal) == TREE[kind]
    assert issubclass(kind, RequestError)
    assert issubclass(kind, DriverError)


def test_a_message_has_the_service_the_cause_and_what_was_asked() -> None:
    error = UnavailableError("it failed (500)")
    assert str(error) == "it failed (500)"
    assert str(error.about("Oracle at http://o/", "who?", "text")) == (
        "Oracle at http://o/: it failed (500); the text was: who?"
    )
    assert str(DeniedError("gone").about("http://o/", "")) == "http://o/: gone"


def test_the_first_to_name_the_service_wins() -> None:
    error = DeadlineError("late").about("inner", "a").about("outer", "b")
    assert (error.service, error.asked, error.noun) == ("inner", "a", "request")


def test_a_long_text_is_shown_in_one_line_by_its_start_and_its_end() -> None:
    assert shortened("a\n  b\tc") == "a b c"
    text = "start " + "x" * 1000 + " end"
    assert shortened(text).startswith("start x")
    assert shortened(text).endswith("x end")
    assert len(shortened(text)) <= 245
    assert shortened("y" * 240) == "y" * 240
