from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.values import note_secrets, redacted, redacted_data, secrets, secrets_in, without_logins
from srtk_framework.values.secrets import is_secret_name, redacted_arguments, redacted_override, secrets_in_arguments

SECRET = "zq7!Kw93/hidden+0x"


@pytest.fixture(autouse=True)
def own_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each test with no secret noted."""
    monkeypatch.setattr(secrets, "_known", set())


@pytest.mark.parametrize(
    "name",
    [
        *("key", "Key", "api_key", "apiKey", "X-Api-Key", "token", "access_token", "password", "db.passwd", "secret"),
        *("client_secret", "Authorization", "Proxy-Authorization", "Set-Cookie", "credentials", "--token", "auth"),
    ],
)
def test_names_of_secrets_are_recognised(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["tokens", "max_tokens_total", "tokenizer", "keys", "keep", "monkey", "sort_key", "author", "use", 5, None]
)
def test_other_names_are_not(name: object) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "data",
    [
        {"generator": {"key": SECRET}},
        {"linkers": [{"token": SECRET}]},
        {"knowledge_graph": {"headers": {"Authorization": f"Bearer {SECRET}"}}},
        {"knowledge_graph": {"headers": {"X-Anything": SECRET}}},
        {"endpoint": f"https://host/sparql?api_key={'zq7%21Kw93%2Fhidden%2B0x'}&limit=3"},
        {"endpoint": "https://me:zq7%21Kw93%2Fhidden%2B0x@host/sparql"},
        {"endpoint": "https://zq7%21Kw93%2Fhidden%2B0x@host/sparql"},
        {"headers": {"Authorization": "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()}},
        {"password": {"inner": [SECRET]}},
    ],
)
def test_a_secret_is_found_wherever_it_stands_and_taken_out_of_data_and_text(data: dict[str, object]) -> None:
    assert SECRET in set(secrets_in(data))
    note_secrets(secrets_in(data))
    assert SECRET not in redacted(f"the server says: you sent {SECRET}; go away")
    assert "hidden" not in str(redacted_data(data))


def test_plain_headers_and_ordinary_settings_are_no_secrets() -> None:
    data = {"headers": {"Accept": "application/json"}, "endpoint": "https://host/sparql?limit=3", "tokens": 2000}
    assert list(secrets_in(data)) == []
    assert redacted_data(data) == data


@pytest.mark.parametrize("name", ["From-Token", "Host-Auth", "Accept-Token", "Hostkey", "Cookie", "X-Client"])
def test_a_header_whose_name_only_begins_as_a_plain_one_is_a_secret(name: str) -> None:
    assert list(secrets_in({"headers": {name: "abc-0123"}})) == ["abc-0123"]
    assert list(secrets_in({"headers": {"Referer": "https://a.example/?token=abc-0123"}})) == ["abc-0123"]


def test_names_of_variables_stay_and_defaults_go() -> None:
    data = {"key": {"env": "NAME", "default": SECRET}, "token": "${mine}", "password": {"env": "OTHER"}}
    assert redacted_data(data) == {
        "key": {"env": "NAME", "default": "***"},
        "token": "${mine}",
        "password": {"env": "OTHER"},
    }


def test_a_number_can_be_a_password() -> None:
    assert redacted_data({"password": 90210377, "on": True, "key": None}) == {
        "password": "***",
        "on": True,
        "key": None,
    }
    note_secrets(secrets_in({"password": 90210377}))
    assert redacted("expected text, got 90210377") == "expected text, got ***"


@pytest.mark.parametrize("form", ["zq7%21Kw93%2Fhidden%2B0x", "zq7!Kw93/hid", "w93/hidden+0x", "7!Kw93/hidde"])
def test_coded_and_cut_forms_of_a_secret_are_taken_out_too(form: str) -> None:
    note_secrets([SECRET])
    assert redacted(f"got '{form}...' here") == "got '***...' here"


def test_words_are_left_in_messages() -> None:
    note_secrets(["none", "EMPTY", "abc", ""])
    assert redacted("none of EMPTY abc") == "none of EMPTY abc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:pw@host/x", "http://***@host/x"),
        ("at https://host/x?api_key=abc&q=1, twice", "at https://host/x?api_key=***&q=1, twice"),
        ("http://host/x?q=key", "http://host/x?q=key"),
        ("mail me@host", "mail me@host"),
    ],
)
def test_logins_and_keys_of_urls_are_masked_without_being_noted(text: str, shown: str) -> None:
    assert without_logins(text) == redacted(text) == shown


def test_overrides_and_arguments_of_a_command_show_no_secret() -> None:
    assert redacted_override(f"generator.key={SECRET}") == "generator.key=***"
    assert redacted_override(f"knowledge_graph.headers.X-Own={SECRET}") == "knowledge_graph.headers.X-Own=***"
    assert redacted_override("expander.width=3") == "expander.width=3"
    arguments = ["link", "--token", SECRET, "--set", f"generator.key={SECRET}", "-e", "http://me:pw1234@h", "x"]
    assert redacted_arguments(arguments) == [
        *("link", "--token", "***", "--set", "generator.key=***", "-e", "http://***@h", "x")
    ]
    assert set(secrets_in_arguments(arguments)) >= {SECRET, "pw1234"}


@given(st.text(max_size=40), st.text(min_size=9, max_size=30), st.text(max_size=40))
def test_no_noted_secret_remains_in_any_text(before: str, secret: str, after: str) -> None:
    known, secrets._known = secrets._known, set()
    try:
        note_secrets([secret])
        shown = redacted(before + secret + after)
        assert not secrets._known or secret not in shown
    finally:
        secrets._known = known


def test_the_key_column_of_a_table_is_no_secret() -> None:
    arguments = ["--key", "suppliers.csv=id", "--key=a.csv=code"]
    assert list(secrets_in_arguments(arguments)) == []
    assert redacted_arguments(arguments[:2]) == arguments[:2]
    assert list(secrets_in_arguments(["--key", "c2VjcmV0cw=="])) == ["c2VjcmV0cw=="]
