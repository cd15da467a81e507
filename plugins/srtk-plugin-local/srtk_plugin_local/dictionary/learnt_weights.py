"""The learnt weights of the dictionary linker: which entity a mention refers to, and whether it refers to any."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from srtk_framework.records import read_model, write_model
from srtk_framework.text import fold
from srtk_framework.values import DriverError, link_order, rounded
from srtk_plugin_local.dictionary.calibration import Calibration
from srtk_plugin_local.dictionary.candidates import Candidate, Mention
from srtk_plugin_local.dictionary.conditional_logit import Floats, Groups, chances, sigmoid, utilities

FILE = "linker.json"
# The smallest score after rounding.
LEAST = 0.0001

# Features that choose among the candidates of a mention.
CHOICE = ("exact", "folded", "coverage", "capital", "string", "popularity", "own", "facts", "coherence")

# Features that decide whether the most likely candidate of a mention is right.
FOUND = (
    "one", "looks", "detected", "length", "share", "rivals", "chance",
    "exact", "folded", "string", "popularity", "own", "facts", "coherence",
)  # fmt: skip

EVERYWHERE = "all"

# Maximum distance of two vectors of one text by the same encoder.
_SAME = 0.15


def choice_row(mention: Mention, candidate: Candidate) -> list[float]:
    """Return the features of a candidate, in the order of ``CHOICE``."""
    text, label = mention.text, candidate.label
    return [
        float(label == text),
        float(fold(label) == fold(text)),
        min(len(text), len(label)) / max(len(text), len(label), 1),
        float(label[:1].isupper() == text[:1].isupper()),
        candidate.string,
        math.log1p(candidate.degree),
        candidate.own,
        candidate.facts,
        candidate.coherence,
    ]


def found_row(mention: Mention, candidate: Candidate, chance: float, share: float) -> list[float]:
    """Return the features of a mention with its most likely candidate, in the order of ``FOUND``.

    Args:
        mention: The mention.
        candidate: Its most likely candidate.
        chance: Probability of the candidate among all of the mention.
        share: Unlearnt score of the mention relative to the best in its text.
    """
    return [
        1.0,
        mention.looks,
        mention.detected,
        mention.length / (mention.length + 1),
        share,
        math.log(len(mention.candidates)),
        chance,
        float(candidate.label == mention.text),
        float(fold(candidate.label) == fold(mention.text)),
        candidate.string,
        math.log1p(candidate.degree),
        candidate.own,
        candidate.facts,
        candidate.coherence,
    ]


@attrs.frozen(eq=False)
class LearntWeights:
    """Two linear models, the choice of a candidate and whether it is right, with their calibration.

    Attributes:
        choice: Weights of ``CHOICE``.
        found: Weights of ``FOUND``.
        calibration: Map from the product of both probabilities to the probability of a right link.
        threshold: Minimum score of a link, unless the linker sets its own.
        probe: The encoder's vector of a fixed text, by which it is recognised; None without an encoder.
        places: Spans that were looked up: ``all`` without a detector, else the linker's ``detected``.
        near: Whether near names are looked up, where the linker's ``fuzzy`` leaves it open.
    """

    choice: Floats
    found: Floats
    calibration: Calibration = attrs.field(factory=Calibration)
    threshold: float = 0.0
    probe: Sequence[float] | None = None
    places: str = EVERYWHERE
    near: bool = False

    def score(self, found: Sequence[Sequence[Mention]]) -> None:
        """Set the score of each candidate to the probability that it is right, and sort the candidates."""
        every = [mention for mentions in found for mention in mentions]
        if not every:
            return
        groups = Groups.of([[choice_row(m, c) for c in m.candidates] for m in every], len(CHOICE))
        likely = chances(groups, self.choice)
        shares = [share for mentions in found for share in shares_of(mentions)]
        starts = groups.offsets.tolist()
        best = [start + int(np.argmax(likely[start:end])) for start, end in itertools.pairwise(starts)]
        rows = np.array(
            [
                found_row(m, m.candidates[at - start], float(likely[at]), share)
                for m, at, start, share in zip(every, best, starts, shares, strict=False)
            ]
        )
        right = sigmoid(utilities(rows, self.found))
        scores = self.calibration(likely * right[groups.owner])
        for mention, start in zip(every, starts, strict=False):
            for place, candidate in enumerate(mention.candidates):
                candidate.score = max(rounded(scores[start + place]), LEAST)
            mention.candidates.sort(key=link_order)

    def fingerprint(self) -> str:
        """Hash the weights."""
        return hashlib.sha256(json.dumps(self._as_json(), sort_keys=True).encode()).hexdigest()[:16]

    def _as_json(self) -> dict[str, Any]:
        return {
            "choice": dict(zip(CHOICE, map(float, self.choice), strict=True)),
            "found": dict(zip(FOUND, map(float, self.found), strict=True)),
            "calibration": attrs.asdict(self.calibration),
            "threshold": self.threshold,
            "probe": None if self.probe is None else list(self.probe),
            "places": self.places,
            "near": self.near,
        }

    def save(self, folder: Path) -> None:
        """Write the weights by name, as JSON."""
        write_model(folder / FILE, self._as_json())

    @classmethod
    def load(cls, folder: Path) -> LearntWeights:
        """Read weights from a folder.

        Raises:
            DriverError: If there are none, or they are damaged or of another version.
        """

        def parse(data: Any) -> LearntWeights:
            return cls(
                np.array([float(data["choice"][name]) for name in CHOICE]),
                np.array([float(data["found"][name]) for name in FOUND]),
                Calibration(**data["calibration"]),
                float(data["threshold"]),
                data["probe"],
                str(data["places"]),
                bool(data["near"]),
            )

        return read_model(folder / FILE, "dictionary", parse)

    def check_places(self, places: str, where: object) -> None:
        """Check that the linker looks up the same spans as in training.

        Raises:
            DriverError: If it does not.
        """
        if places != self.places:
            had = "without a detector" if self.places == EVERYWHERE else f"with a detector and detected: {self.places}"
            raise DriverError(f"the weights in {where} were learnt {had}; set the linker alike, or train again")

    def check_encoder(self, probe: Sequence[float] | None, where: object) -> None:
        """Check that the encoder is the encoder of training.

        Raises:
            DriverError: If it is another encoder, or either is missing.
        """
        if (probe is None) != (self.probe is None):
            had = "without an" if self.probe is None else "with an"
            raise DriverError(f"the weights in {where} were learnt {had} encoder; set the linker alike, or train again")
        if probe is None or self.probe is None:
            return
        if len(probe) != len(self.probe) or float(np.linalg.norm(np.subtract(probe, self.probe))) > _SAME:
            raise DriverError(f"the weights in {where} were learnt with another encoder; use that one, or train again")


def shares_of(mentions: Sequence[Mention]) -> list[float]:
    """Return the score of each mention relative to the best mention."""
    best = max((mention.score for mention in mentions), default=0.0) or 1.0
    return [mention.score / best for mention in mentions]
