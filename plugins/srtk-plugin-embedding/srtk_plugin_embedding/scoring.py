"""Scoring functions of ComplEx, RotatE and HolE, for arrays of numpy and tensors of torch alike.

Each has two parts: the bound end and the relation become one vector, and that vector is compared with every entity by a
matrix product. An inverse step has parameters of its own (reciprocal relations, Lacroix et al. 2018, section 2.4), so
that (?, r, o) is asked like (o, inverse of r, ?), and one direction is all that the functions need.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

Kind = Literal["complex", "rotate", "hole"]

KINDS: tuple[str, ...] = get_args(Kind)

NAMES = {"complex": "ComplEx", "rotate": "RotatE", "hole": "HolE"}

# Replaces a squared distance of 0, whose root has no gradient.
_LEAST = 1e-12


def relation_width(kind: Kind, dimensions: int) -> int:
    """Return how many numbers a relation has where an entity has ``dimensions``: RotatE has one angle for two."""
    return dimensions // 2 if kind == "rotate" else dimensions


def query_vectors(xp: Any, kind: Kind, ends: Any, relations: Any) -> Any:
    """Combine bound ends with relations.

    ComplEx (Trouillon et al. 2016) multiplies complex numbers, whose real parts are the first half of a vector. RotatE
    (Sun et al. 2019) rotates them by the relation's angles. HolE (Nickel et al. 2016) scores the circular correlation
    of subject and object with the relation, which is the product of the object with the circular convolution of the
    other two.

    Args:
        xp: The module ``numpy`` or ``torch``.
        kind: The scoring function.
        ends: Vectors of entities [n, d].
        relations: Vectors of relations [n, ``relation_width``].

    Returns:
        Array [n, d].
    """
    if kind == "hole":
        return xp.fft.irfft(xp.fft.rfft(ends) * xp.fft.rfft(relations), n=ends.shape[1])
    half = ends.shape[1] // 2
    real, imaginary = ends[:, :half], ends[:, half:]
    if kind == "rotate":
        turn_real, turn_imaginary = xp.cos(relations), xp.sin(relations)
    else:
        turn_real, turn_imaginary = relations[:, :half], relations[:, half:]
    return xp.concat(
        [real * turn_real - imaginary * turn_imaginary, real * turn_imaginary + imaginary * turn_real], axis=1
    )


def entity_scores(xp: Any, kind: Kind, queries: Any, entities: Any) -> Any:
    """Score entities as fillers of the open end.

    The score is the inner product; for RotatE the negative Euclidean distance of the whole vectors (as in PyKEEN and
    PyTorch Geometric; Sun et al. sum the distances of the coordinates, which no matrix product computes).

    Args:
        xp: The module ``numpy`` or ``torch``.
        kind: The scoring function.
        queries: Array [n, d] of ``query_vectors``.
        entities: Vectors of entities [m, d].

    Returns:
        Array [n, m]; higher is better.
    """
    products = queries @ entities.T
    if kind != "rotate":
        return products
    squares = (queries * queries).sum(axis=1)[:, None] + (entities * entities).sum(axis=1) - 2 * products
    return -xp.sqrt(xp.clip(squares, _LEAST, None))
