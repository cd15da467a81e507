"""Records in JSON Lines, splits of datasets, locks, and the publication of files and folders."""

from __future__ import annotations

from srtk_framework.records import record_fields
from srtk_framework.records.answers import record_from_answer
from srtk_framework.records.checksums import (
    BLOCK,
    State,
    beside,
    check_files,
    checked,
    checked_lines,
    file_blocks,
    read_model,
    sums_of,
    with_checksum,
    write_model,
)
from srtk_framework.records.gold_answers import FIELDS, field_of_gold, gold_answers, unread_gold
from srtk_framework.records.jsonl import (
    base_suffix,
    check_depth,
    dumps,
    json_decoder,
    parse_json,
    read_json,
    read_jsonl,
    read_lines,
    shown,
    write_json,
    write_jsonl,
)
from srtk_framework.records.lock import locked
from srtk_framework.records.publication import (
    publication_error,
    publish,
    publish_generation,
    settle,
    unfinished,
    workplace,
    write_bytes,
    write_text,
)
from srtk_framework.records.retrieval_records import (
    read_questions,
    read_retrievals,
    record_from_question,
    record_from_retrieval,
    retrieval_from_record,
)
from srtk_framework.records.splits import Part, part_of, place
from srtk_framework.records.training_examples import read_training_examples, write_training_examples

__all__ = [
    "BLOCK",
    "FIELDS",
    "Part",
    "State",
    "base_suffix",
    "beside",
    "check_depth",
    "check_files",
    "checked",
    "checked_lines",
    "dumps",
    "field_of_gold",
    "file_blocks",
    "gold_answers",
    "json_decoder",
    "locked",
    "parse_json",
    "part_of",
    "place",
    "publication_error",
    "publish",
    "publish_generation",
    "read_json",
    "read_jsonl",
    "read_lines",
    "read_model",
    "read_questions",
    "read_retrievals",
    "read_training_examples",
    "record_fields",
    "record_from_answer",
    "record_from_question",
    "record_from_retrieval",
    "retrieval_from_record",
    "settle",
    "shown",
    "sums_of",
    "unfinished",
    "unread_gold",
    "with_checksum",
    "workplace",
    "write_bytes",
    "write_json",
    "write_jsonl",
    "write_model",
    "write_text",
    "write_training_examples",
]
