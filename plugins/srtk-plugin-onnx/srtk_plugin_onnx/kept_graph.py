"""The graph that was written from a BERT's weights, kept in the user's cache, so that it is written once."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from srtk_plugin_models import file_hash

from srtk_framework.records import beside, read_model, write_model
from srtk_framework.run import cache_folder
from srtk_framework.values import DriverError
from srtk_plugin_onnx.bert_graph import bert_graph
from srtk_plugin_onnx.model_source import read_weights

FORMAT = "1"
"""Version of the files, part of the name of their folder."""
MANIFEST = "graph.json"
GRAPH = "model.onnx"
DATA = "weights.bin"
_AGAIN = "delete its folder, or run `srtk doctor --repair`, and it is written again"


@contextmanager
def kept_graph(files: list[Path], name: str, config: dict[str, Any], int8: bool) -> Iterator[Path]:
    """Yield the file of the graph of some weights, which maps a file beside it; it is written if it is missing.

    Where the cache cannot be written, the file is there only in the context.

    Args:
        files: Files of the weights.
        name: Name of the model, for messages.
        config: Content of its config.json.
        int8: Whether products are of whole numbers; see ``bert_graph``.

    Raises:
        DriverError: If the graph cannot be written from these weights, or what was kept is damaged.
    """
    parts = [FORMAT, repr(sorted(config.items())), str(int8), *map(file_hash, files)]
    folder = cache_folder() / "onnx" / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    if not (folder / MANIFEST).is_file():
        made = _written(folder.parent)
        try:
            graph, data = bert_graph(config, read_weights(files, name), name, DATA, int8)
            try:
                write_model(made / MANIFEST, {"model": name}, {GRAPH: graph, DATA: data})
            except OSError as error:
                raise DriverError(
                    f"the graph of model {name!r} cannot be written to {made.parent} ({error.strerror}); make room, or"
                    " set XDG_CACHE_HOME to another folder"
                ) from error
            if not _published(made, folder):
                yield made / GRAPH
                return
        finally:
            shutil.rmtree(made, ignore_errors=True)
    facts = read_model(folder / MANIFEST, "onnx", dict, _AGAIN)
    beside(folder / MANIFEST, facts, DATA, _AGAIN)
    yield beside(folder / MANIFEST, facts, GRAPH, _AGAIN)


def _written(parent: Path) -> Path:
    """Make a folder beside its later place, or elsewhere if that cannot be written."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=parent))
    except OSError:
        return Path(tempfile.mkdtemp())


def _published(made: Path, folder: Path) -> bool:
    """Give a folder its place, unless another process was faster; return whether the place is taken."""
    if made.parent != folder.parent:
        return False
    if not (folder / MANIFEST).is_file():
        shutil.rmtree(folder, ignore_errors=True)  # What a repair left
    try:
        made.rename(folder)
    except OSError:
        return (folder / MANIFEST).is_file()
    return True
