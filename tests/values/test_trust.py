"""What can run code is used only if its own kind is in the environment."""

from __future__ import annotations

import pytest

from srtk_framework.values import refusal


@pytest.mark.parametrize("given", [None, "", "qdrant-folder", "unsafe-weights-too", "UNSAFE-WEIGHTS", "all"])
def test_what_the_user_does_not_name_is_refused(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRTK_TRUST", raising=False)
    if given is not None:
        monkeypatch.setenv("SRTK_TRUST", given)
    text = refusal("unsafe-weights", "this file")
    assert text is not None
    assert text.startswith("this file can run code")
    assert text.endswith("SRTK_TRUST=" + ",".join([*filter(None, [given]), "unsafe-weights"]))


def test_each_kind_that_the_user_names_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRTK_TRUST", "qdrant-folder, remote-code")
    assert refusal("qdrant-folder", "this") is refusal("remote-code", "this") is None
    assert refusal("unsafe-weights", "this") is not None
