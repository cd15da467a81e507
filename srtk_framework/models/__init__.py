"""Folders of Hugging Face models, for every plugin that runs one: where they are, their hashes, their pooling.

Importing this room loads no library; a model of the hub needs the extra `models`.
"""

from srtk_framework.models.folder import (
    MINILM,
    check_weights,
    file_hash,
    files_hash,
    find_model,
    folder_faults,
)
from srtk_framework.models.json_file import read_json
from srtk_framework.models.sentence_folder import POOLINGS, Dense, SentenceFolder, read_sentence_folder
from srtk_framework.models.sentence_settings import SentenceSettings

__all__ = [
    "MINILM",
    "POOLINGS",
    "Dense",
    "SentenceFolder",
    "SentenceSettings",
    "check_weights",
    "file_hash",
    "files_hash",
    "find_model",
    "folder_faults",
    "read_json",
    "read_sentence_folder",
]
