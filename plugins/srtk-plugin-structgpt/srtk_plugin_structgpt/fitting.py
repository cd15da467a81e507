"""Keep what is shown to a generator within a number of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from srtk_framework.text import numbered

CountTokens = Callable[[Sequence[str]], Sequence[int]]


def fitting(count_tokens: CountTokens, rows: Sequence[Sequence[str]], tokens: int | None) -> list[int]:
    """Say how many of the first lines of each row may be shown, numbered, in at most so many tokens.

    Lines are counted by themselves, then the whole text of those kept: a tokenizer may count it differently.

    Args:
        count_tokens: Counts the tokens of each text.
        rows: Lines without numbers, for each prompt.
        tokens: Most tokens of one prompt's lines; None for no limit.
    """
    if tokens is None:
        return [len(row) for row in rows]
    lines = [numbered(row).split("\n") if row else [] for row in rows]
    counts = iter(count_tokens([line + "\n" for row in lines for line in row]))
    sizes = []
    for row in lines:
        size = left = 0
        for count in [next(counts) for _ in row]:
            left += count
            if left > tokens:
                break
            size += 1
        sizes.append(size)
    while True:
        open_ = [i for i, size in enumerate(sizes) if size]
        whole = count_tokens(["\n".join(lines[i][: sizes[i]]) for i in open_])
        over = [i for i, count in zip(open_, whole, strict=True) if count > tokens]
        if not over:
            return sizes
        for i in over:
            sizes[i] -= 1
