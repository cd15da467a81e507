"""Model of the ``masked-lm`` completer, and its folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.records import read_model, write_model
from srtk_framework.roles import MaskFiller
from srtk_framework.values import DriverError
from srtk_plugin_knowlybert.soft_prior import SoftPrior
from srtk_plugin_knowlybert.templates import Template, written_templates

FILE, TEMPLATES = "masked-lm.json", "templates.json"
_FORMAT = "srtk-masked-lm-1"
# Texts that tell tokenizers apart.
_PROBE = ("Riga", "the capital of Latvia", "1201", "unquestionably", "Čiekurkalns", "New York City")


@attrs.frozen
class State:
    """Templates, threshold and prior.

    Attributes:
        templates: By relation, best first.
        threshold: The static threshold, on the scale of the completer's setting; None for none.
        prior: Of the candidates; None without ``types: soft``.
        tokenizer: Hash of how the filler divides texts.
    """

    templates: Mapping[str, tuple[Template, ...]] = attrs.field(factory=dict)
    threshold: float | None = None
    prior: SoftPrior | None = None
    tokenizer: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "templates": {relation: [one.text for one in some] for relation, some in sorted(self.templates.items())},
            "threshold": self.threshold,
            "prior": None if self.prior is None else self.prior.to_json(),
            "tokenizer": self.tokenizer,
        }

    def save(self, folder: Path) -> None:
        """Write ``masked-lm.json``, and the templates by themselves as ``templates.json`` for other uses."""
        write_model(folder / FILE, {"format": _FORMAT, **self.to_json()})
        (folder / TEMPLATES).write_text(written_templates(dict(self.templates)), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path, filler: MaskFiller) -> State:
        """Read a saved model.

        Raises:
            DriverError: If it cannot be read, or was learnt with another tokenizer than the filler's.
        """

        def parse(data: Any) -> State:
            if data["format"] != _FORMAT:
                raise ValueError(f"its format is {data['format']!r}")
            return cls(
                {relation: tuple(map(Template.parse, some)) for relation, some in data["templates"].items()},
                None if data["threshold"] is None else float(data["threshold"]),
                None if data["prior"] is None else SoftPrior.from_json(data["prior"]),
                data["tokenizer"],
            )

        file = folder / FILE
        state = read_model(file, "masked-lm", parse)
        if state.tokenizer != tokenizer_hash(filler):
            raise DriverError(
                f"{file} was learnt with another tokenizer than that of the filler, so it is of other"
                " labels; name the filler that it was learnt with, or train it again"
            )
        return state


def tokenizer_hash(filler: MaskFiller) -> str:
    """Return a hash of the filler's mark of a gap, and of how it divides some texts."""
    parts = [filler.mask(), *(list(row) for row in filler.tokens(_PROBE))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
