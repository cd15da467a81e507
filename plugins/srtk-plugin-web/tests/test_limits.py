"""Limits of a client: what they refuse, and where politeness has none."""

from __future__ import annotations

from typing import ClassVar

import attrs
import pytest
from srtk_plugin_web import Limits, is_local

LOCAL = [
    "http://localhost:7878/query",
    "http://graph.localhost/",
    "http://127.0.0.1/",
    "http://127.8.9.1:80/",
    "http://me:secret@127.0.0.1/",
    "https://[::1]:7878/",
    "http://10.1.2.3/",
    "http://172.16.0.9/",
    "http://192.168.1.7:8890/sparql",
    "http://[fd00::1]/",
    "http://[fe80::1%25eth0]/",
]
PUBLIC = [
    "https://query.wikidata.org/sparql",
    "http://172.32.0.1/",
    "http://8.8.8.8/",
    "http://[2001:4860:4860::8888]/",
    "http://localhost.example.org/",
    "http://virtuoso:8890/sparql",
    "http://127.0.0.1.example.org/",
]


@attrs.frozen
class Modest(Limits):
    """Limits of a service that is shared by all."""

    polite: ClassVar[float | None] = 2.0


@pytest.mark.parametrize("address", LOCAL)
def test_this_machine_and_private_networks_are_asked_without_a_pause(address: str) -> None:
    assert is_local(address)
    assert Limits().rate(address) is Modest().rate(address) is None
    assert Modest(per_second=7.0).rate(address) == 7.0


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_host_is_asked_politely_unless_the_settings_say_how_often(address: str) -> None:
    assert not is_local(address)
    assert Limits().rate(address) == 5.0
    assert Modest().rate(address) == 2.0
    assert Modest(per_second=7.0).rate(address) == 7.0


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(Limits)])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_that_is_not_above_zero_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be above 0"):
        Limits(**{name: value})
