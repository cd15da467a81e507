"""Folders of Hugging Face models, for every plugin that runs one: where they are, their hashes, their pooling.

Importing this room loads no library; a model of the hub needs the extra `models`.
"""

from srtk_framework.models.folder import MINILM, check_weights, file_hash, files_hash, find_model, folder_faults
from srtk_framework.models.json_file import read_json
from srtk_framework.models.sentence_folder import Dense, SentenceFolder
from srtk_framework.models.sentence_settings import SentenceSettings

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
    "read_json",
]
