"""Languages with their scripts and speakers, and currencies with their dates."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pycountry
from babel import Locale
from babel.core import get_global
from babel.localedata import locale_identifiers
from babel.numbers import get_currency_name, get_currency_symbol
from facts import World, decimal, is_latin, text

SMALLEST_SHARE = 0.5
"""Minimum percentage of speakers in a country for a language without legal status there."""

LANGUAGE_ALIASES = {
    "fa": ["Farsi"],
    "zh": ["Mandarin"],
    "km": ["Cambodian"],
    "my": ["Myanmar language"],
    "fil": ["Pilipino"],
}
SCRIPT_LABELS = {"Hans": "simplified Chinese characters", "Hant": "traditional Chinese characters"}
_STATUS = {
    "official": "official_language",
    "de_facto_official": "official_language",
    "official_regional": "regional_language",
}
_DIRECTIONS = {"ltr": "left to right", "rtl": "right to left", "ttb": "top to bottom"}
_SPECIAL = {"XXX", "XTS", "XUA", "XSU", "XDR"}  # not a currency of any country


def _main(tag: str) -> str:
    return tag.split("_")[0]


def add_languages(world: World, countries: list[str]) -> None:
    """Add the languages of each country with share of speakers and legal status, and their scripts."""
    spoken: dict[str, set[str]] = {}
    for code in countries:
        for tag, facts in sorted(get_global("territory_languages").get(code, {}).items()):
            status, share = facts["official_status"], facts["population_percent"] or 0
            id_ = f"language/{_main(tag)}"
            if _main(tag) not in Locale("en").languages or (share < SMALLEST_SHARE and not status):
                continue
            spoken.setdefault(_main(tag), set()).add(tag)
            said = {"share": decimal(share)} if share else {}
            if share >= SMALLEST_SHARE:
                world.add(f"country/{code}", "spoken_language", id_, **said)
            if status in _STATUS:
                world.add(f"country/{code}", _STATUS[status], id_, status=text(status.replace("_", " ")), **said)
    for language in sorted(Locale("en").languages):
        if "_" in language or (language not in spoken and not _known(language)):
            continue
        id_ = f"language/{language}"
        world.name(id_, Locale("en").languages[language], _language_names(language))
        known = _known(language)
        if known:
            world.add(id_, "language_code", text(known.alpha_3))
        for tag in sorted({language} | spoken.get(language, set())):
            script = _script(tag)
            if script:
                world.add(id_, "script", f"script/{script}")
    _add_scripts(world)


def _known(code: str) -> Any:
    return pycountry.languages.get(alpha_2=code) if len(code) == 2 else pycountry.languages.get(alpha_3=code)


def _language_names(code: str) -> list[str]:
    names = [getattr(_known(code), field, "") for field in ("name", "common_name")]
    names = [n for n in names if n and "," not in n and "(" not in n]
    if code in locale_identifiers():
        names.append(Locale(code).languages.get(code, ""))
    return [n for n in names if len(n) > 3 or (n and not is_latin(n))] + LANGUAGE_ALIASES.get(code, [])


def _named(record: Any) -> str:
    return str(record.name)


def _script(tag: str) -> str | None:
    parts = [*tag.split("_"), *get_global("likely_subtags").get(tag, "").split("_")]
    return next((p for p in parts if re.fullmatch(r"[A-Z][a-z]{3}", p)), None)


def _add_scripts(world: World) -> None:
    for direction, label in _DIRECTIONS.items():
        world.name(f"direction/{direction}", label)
    used = {o for found in world.objects("script").values() for o in found}
    directions: dict[str, str] = {}
    for identifier in sorted(locale_identifiers()):
        locale = Locale.parse(identifier)
        script = locale.script or _script(identifier) or _script(locale.language)
        directions.setdefault(f"script/{script}", locale.text_direction)
    for id_ in sorted(used):
        code = id_.removeprefix("script/")
        label = Locale("en").scripts.get(code) or _named(pycountry.scripts.get(alpha_4=code))
        world.name(id_, SCRIPT_LABELS.get(code, f"{label} script"), [f"{label} alphabet"])
        if id_ in directions:
            world.add(id_, "direction", f"direction/{directions[id_]}")


def add_currencies(world: World, countries: list[str], today: date) -> None:
    """Add the current and former currencies of each country, with dates."""
    used = set()
    for code in countries:
        for currency, start, end, tender in get_global("territory_currencies").get(code, ()):
            if not tender or currency in _SPECIAL:
                continue
            used.add(currency)
            said = {"start": _day(start)} if start else {}
            if end and date(*end) < today:
                world.add(f"country/{code}", "former_currency", f"currency/{currency}", end=_day(end), **said)
            elif not start or date(*start) <= today:
                world.add(f"country/{code}", "currency", f"currency/{currency}", **said)
    for currency in sorted(used):
        id_ = f"currency/{currency}"
        known = pycountry.currencies.get(alpha_3=currency)
        label = Locale("en").currencies.get(currency) or _named(known)
        world.name(id_, _plain(label), _currency_names(currency, label))
        world.add(id_, "currency_code", text(currency))
        symbol = get_currency_symbol(currency, locale="en")
        if symbol != currency:
            world.add(id_, "currency_symbol", text(symbol))


def _plain(label: str) -> str:
    return re.sub(r" \((\d+)\s*[–—-]\s*(\d+)\)", r" of \1–\2", label)


def _currency_names(code: str, label: str) -> list[str]:
    names = {get_currency_name(code, count=count, locale="en") for count in (1, 2)}
    known = pycountry.currencies.get(alpha_3=code)
    return [_plain(n) for n in sorted(names)] + ([known.name] if known else []) + [_plain(label)]


def _day(parts: tuple[int, int, int]) -> str:
    return f'"{date(*parts).isoformat()}"^^xsd:date'
