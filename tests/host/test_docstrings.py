"""What attributes mean is read from the docstrings of a class and of its base classes."""

from __future__ import annotations

from srtk_framework.host import meanings


class Base:
    """Has a size.

    Attributes:
        size: How many
            there are.
        mark: Sign of the ``base``.
    """


class Derived(Base):
    """Has a name too.

    Attributes:
        mark: Another sign.
        name: What it is called.

    Raises:
        nothing: At all.
    """


def test_texts_are_inherited_and_replaced_and_other_sections_left_out():
    assert meanings(Base) == {"size": "How many there are.", "mark": "Sign of the `base`."}
    assert meanings(Derived) == {
        "size": "How many there are.",
        "mark": "Another sign.",
        "name": "What it is called.",
    }


def test_a_class_without_a_docstring_says_nothing():
    class Bare:
        pass

    assert meanings(Bare) == {}
