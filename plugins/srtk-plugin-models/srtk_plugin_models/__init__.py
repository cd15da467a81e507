"""Folders of Hugging Face models, for plugins that run a model: where they are, their hashes, their pooling.

Importing this package loads no library.
"""

from srtk_plugin_models.folder import (
    MINILM,
    check_weights,
    file_hash,
    files_hash,
    find_model,
    folder_faults,
    named_hash,
)
from srtk_plugin_models.json_file import read_json
from srtk_plugin_models.sentence_folder import Dense, SentenceFolder
from srtk_plugin_models.sentence_settings import SentenceSettings

__all__ = [
    "MINILM",
    "Dense",
    "SentenceFolder",
    "SentenceSettings",
    "check_weights",
    "file_hash",
    "files_hash",
    "find_model",
    "folder_faults",
    "named_hash",
    "read_json",
]
