"""English plurals, as headings and names of tables have them."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAME = _words("series species news means gas lens atlas canvas alias bias christmas always as his this has was")

_IRREGULAR = {
    "people": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "geese": "goose",
    "indices": "index",
    "vertices": "vertex",
    "matrices": "matrix",
    "appendices": "appendix",
    "quizzes": "quiz",
    "waltzes": "waltz",
    "axes": "axe",
    "oases": "oasis",
    "crises": "crisis",
    "diagnoses": "diagnosis",
    "prognoses": "prognosis",
}

# Singulars that only take an s, where their ending says otherwise.
_WITH_E = _words(
    "movie cookie zombie calorie tie pie lie die genie rookie selfie hoodie smoothie prairie brownie collie goalie"
    " newbie pixie sortie veggie bookie magpie eyrie lingerie menagerie patisserie rotisserie reverie talkie walkie"
    " cache ache headache toothache niche avalanche moustache psyche cliche quiche"
    " shoe toe canoe oboe foe hoe doe roe floe aloe horseshoe use excuse fuse muse ruse abuse refuse recluse"
)

# Singulars on f or fe, of plurals on ves.
_WITH_F = {
    **{f"{stem}ves": f"{stem}f" for stem in _words("lea wol shel hal thie loa scar cal el sel hoo dwar shea")},
    **{f"{stem}ves": f"{stem}fe" for stem in _words("li kni wi midwi housewi")},
}

# Endings of plurals that add es; words on ses, such as houses, add s.
_WITH_ES = ("sses", "shes", "ches", "xes", "oes", "aliases", "atlases", "canvases", "biases", "gases", "lenses")


def same_word(first: str, second: str) -> bool:
    """Return whether two words are the same, singular or plural."""
    return singular(first) == singular(second)


def singular(word: str) -> str:
    """Return the singular of an English word in small letters, by rules and their common exceptions."""
    if word in _IRREGULAR or word in _WITH_F:
        return _IRREGULAR.get(word) or _WITH_F[word]
    if word in _SAME or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word[:-1] in _WITH_E:
        return word[:-1]
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("yses", "theses")):
        return word[:-2] + "is"
    added = word.endswith(_WITH_ES) or (word.endswith("uses") and not word.endswith(("ouses", "auses")))
    return word[:-2] if added else word[:-1]
