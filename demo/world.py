"""Build the demo's graph of the world from the data of installed packages.

python demo/world.py --out build/demo/world
"""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from facts import World
from world_cities import add_airports, add_cities, read_airports, read_cities
from world_countries import ALIASES, add_countries, add_subdivisions, country_codes
from world_languages import add_currencies, add_languages
from world_time import add_time

TODAY = date(2026, 1, 1)
"""Reference date for current currencies: fixed, so that two builds agree."""


def build() -> World:
    """Collect all facts; the same packages give the same facts."""
    world, countries = World(), country_codes()
    cities, airports = read_cities(countries), read_airports(countries)
    add_countries(world)
    add_subdivisions(world)
    add_languages(world, countries)
    add_currencies(world, countries, TODAY)
    add_cities(world, cities, airports)
    add_airports(world, cities, airports)
    add_time(world, countries)
    world.drop_taken_aliases(frozenset(alias for names in ALIASES.values() for alias in names))
    return world


def main() -> int:
    """Write triples.tsv, labels.tsv, aliases.tsv and qualifiers.tsv into a folder."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the four tables")
    args = parser.parse_args()
    counts = build().write(args.out)
    print(f"{args.out}: " + ", ".join(f"{count} lines in {name}" for name, count in counts.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
