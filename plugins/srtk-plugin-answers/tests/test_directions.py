"""Which of two linked things a question for yes or no has as the subject of a relation."""

import pytest
from srtk_plugin_answers.directions import is_first_subject


@pytest.mark.parametrize(
    ("text", "label", "first"),
    [
        ("Is ¤ the parent of ¤?", "parent of", True),
        ("Is ¤ the parent of ¤?", "parent", False),
        ("Is ¤ ¤'s parent?", "parent", False),
        ("Is ¤ a member of ¤?", "club", None),
        ("Was ¤ directed by ¤?", "director", True),
        ("Was ¤ directed by ¤?", "directed by", True),
        ("Did ¤ direct ¤?", "director", False),
        ("Did ¤ direct ¤?", "directed by", False),
        ("Does ¤ star in ¤?", "starring", False),
        ("Does ¤ supply ¤?", "supplies", True),
        ("Was ¤ supplied by ¤?", "supplies", False),
        ("Does ¤ work for ¤?", "employer", None),
        ("Is ¤ the spouse of ¤?", "spouse", None),  # said of both
        ("Is ¤ the parent of ¤ and ¤?", "parent of", None),
    ],
)
def test_the_words_of_a_question_tell_the_subject_of_a_relation(text: str, label: str, first: bool | None) -> None:
    assert is_first_subject(text, label) is first
