"""Vectors of a question's options and of the entries retrieved for each."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from srtk_framework.roles import Encoder, Index
from srtk_framework.values import DriverError, Question, Search, Subgraph
from srtk_plugin_septa.shape import Vectors


@attrs.frozen(eq=False)
class OptionVectors:
    """One question's options in numbers; all vectors have norm 1, or are 0.

    Attributes:
        searches: The search of each option by the encoder of the index: t, float32 [options, d].
        entries: The entries found, float32 [options, k, d]; rows of 0 where there are fewer.
        found: How many entries each option has, int64 [options].
        plain: Question and option without knowledge, float32 [options, p].
        similarities: float32 [options, 4]. Over the entries found with the option: the greatest product of an entry's
            cosines with the question and with the option; its greatest cosine with the search. Over pairs of an entry
            found for the question alone and an entry found for the option alone: the greatest product of their cosine
            with the cosine of each with its search. Last the cosine of question and option. 0 where nothing was found.
        tokens: For an encoder that learns, the token ids of the searches, and of question and option.
    """

    searches: Vectors
    entries: Vectors
    found: np.ndarray
    plain: Vectors
    similarities: Vectors
    tokens: tuple[list[list[int]], list[list[int]]] = ([], [])


def option_vectors(
    questions: Sequence[Question],
    subgraphs: Sequence[Subgraph],
    index: Index,
    encoder: Encoder,
    direct: Encoder,
    k: int,
) -> list[OptionVectors]:
    """Encode the options of questions, and read the vectors of the entries that were found for each.

    A subgraph has no searches, or one for each option; or the latter, then one for the question alone and one for
    each option alone. ``encoder`` encodes searches into the space of the index, ``direct`` question and option
    without knowledge. An option has at most ``k`` entries.

    Raises:
        DriverError: If a question has no options, a subgraph has a search for something else, or the index lacks an
            entry or its vector.
    """
    for question, subgraph in zip(questions, subgraphs, strict=True):
        _check(question, subgraph)
    searched = [searched_texts(q, s) for q, s in zip(questions, subgraphs, strict=True)]
    parts = [text for question in questions for text in (question.text, *question.options)]
    by_index = encoded(encoder, [*parts, *(text for row in searched for text in row)])
    by_direct = encoded(direct, [*parts, *(text for question in questions for text in plain_texts(question))])
    ids = list(dict.fromkeys(id_ for s in subgraphs for one in s.searches for id_, _ in one.hits[:k]))
    rows = dict(zip(ids, _entries(index, ids), strict=True))

    def found_by(searches: Sequence[Search], width: int) -> Vectors:
        table = np.zeros((len(searches), k, width), dtype=np.float32)
        for place, one in enumerate(searches):
            for rank, (id_, _) in enumerate(one.hits[:k]):
                table[place, rank] = rows[id_]
        return table

    made = []
    for question, subgraph, row in zip(questions, subgraphs, searched, strict=True):
        size = len(question.options)
        t = np.stack([by_index[text] for text in row])
        with_option = subgraph.searches[:size] or [Search(text) for text in row]
        entries = found_by(with_option, t.shape[1])
        plain = np.stack([by_direct[text] for text in plain_texts(question)])
        asked, options = by_index[question.text], np.stack([by_index[option] for option in question.options])
        both = np.sum(entries * asked, axis=2) * np.sum(entries * options[:, None], axis=2)
        near = np.sum(entries * t[:, None], axis=2)
        alike = np.stack([by_direct[option] for option in question.options]) @ by_direct[question.text]
        pairs = np.zeros((size, 1), dtype=np.float32)
        if len(subgraph.searches) > size:
            alone = found_by(subgraph.searches[size:], t.shape[1])
            pairs = _joined(alone[0], asked, alone[1:], options)
        columns = (np.max(both, axis=1), np.max(near, axis=1), np.max(pairs, axis=1), alike)
        similarities = np.stack(columns, axis=1).astype(np.float32)
        found = np.array([len(one.hits[:k]) for one in with_option], dtype=np.int64)
        made.append(OptionVectors(t, entries, found, plain, similarities))
    return made


def _joined(of_question: Vectors, question: Vectors, of_options: Vectors, options: Vectors) -> Vectors:
    """Return for each option the products of all pairs: cosine of the two entries, and of each with its search.

    Entries were found for the question, [k, d], and for each option, [options, k, d]; their own vectors are [d] and
    [options, d].
    """
    one = np.sum(of_question * question, axis=1)
    other = np.sum(of_options * options[:, None], axis=2)
    both = np.sum(of_question[None, :, None] * of_options[:, None], axis=3)
    products: Vectors = both * one[None, :, None] * other[:, None]
    return products.reshape(len(options), -1)


def plain_texts(question: Question) -> list[str]:
    """Return the question with each of its options."""
    return [f"{question.text} {option}" for option in question.options]


def searched_texts(question: Question, subgraph: Subgraph) -> list[str]:
    """Return the search of each option; question and option where there was none."""
    return [one.text for one in subgraph.searches[: len(question.options)]] or plain_texts(question)


def _check(question: Question, subgraph: Subgraph) -> None:
    if not question.options:
        raise DriverError(
            f"question {question.id} has no options to choose from; give `options`, or name another reader"
        )
    size = len(question.options)
    if len(subgraph.searches) not in (0, size, 2 * size + 1):
        raise DriverError(
            f"question {question.id} has {size} options, and its subgraph {len(subgraph.searches)}"
            " searches; retrieve it by the expander `index`, which searches for each option"
        )


def encoded(encoder: Encoder, texts: Sequence[str]) -> dict[str, Vectors]:
    """Encode each distinct text once, to norm 1."""
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, unit(encoder.encode(distinct)), strict=True)) if distinct else {}


def _entries(index: Index, ids: Sequence[str]) -> list[Vectors]:
    found = []
    for id_, entry in zip(ids, index.entries(ids), strict=True):
        if entry is None:
            raise DriverError(f"the index has no entry {id_!r}; read by the index that the expander searches")
        if entry.vector is None:
            raise DriverError("the index keeps no vectors; name one that does, such as `exact`")
        found.append(unit(entry.vector[None])[0])
    return found


def unit(rows: Vectors) -> Vectors:
    """Scale rows to norm 1; rows of 0 stay."""
    wide = rows.astype(np.float64)
    norms = np.sqrt(np.sum(wide * wide, axis=1, keepdims=True))
    scaled: Vectors = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0).astype(np.float32)
    return scaled
