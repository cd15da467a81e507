"""Time zones with their countries, names and offsets from UTC."""

from __future__ import annotations

import datetime
import importlib.resources
from zoneinfo import ZoneInfo

from babel import Locale
from babel.core import get_global
from facts import World


def add_time(world: World, countries: list[str]) -> None:
    """Add time zones with their countries, names and offsets from UTC."""
    english = Locale("en")
    owners = {zone: code for zone, code in get_global("zone_territories").items() if code in countries}
    named = {o.removeprefix("zone/") for found in world.objects("time_zone").values() for o in found}
    for zone in sorted(set(owners) | named):
        id_ = f"zone/{zone}"
        place = zone.rsplit("/", 1)[-1].replace("_", " ")
        world.name(id_, zone, [f"{place} time zone"])
        if zone in owners:
            world.add(id_, "zone_country", f"country/{owners[zone]}")
        standard = get_global("meta_zones").get(zone)
        names = english.meta_zones.get(standard, {}).get("long", {}) if standard else {}
        if names:
            label = names.get("generic") or names["standard"]
            world.name(f"time/{standard}", label, sorted(names.values()))
            world.add(id_, "standard_time", f"time/{standard}")
        winter, summer = _offsets(zone)
        for relation, offset in (("utc_offset", winter), ("summer_offset", summer)):
            if relation == "utc_offset" or winter != summer:
                world.name(f"offset/{offset}", offset)
                world.add(id_, relation, f"offset/{offset}")


def _offsets(zone: str) -> tuple[str, str]:
    # Use the tzdata package instead of system data, so that all machines agree.
    source = importlib.resources.files("tzdata").joinpath("zoneinfo", *zone.split("/"))
    with source.open("rb") as file:
        info = ZoneInfo.from_file(file, key=zone)
    shifts = [datetime.datetime(2026, month, 15, tzinfo=info).utcoffset() for month in (1, 7)]
    first, last = sorted(shift for shift in shifts if shift is not None)
    return _offset(first), _offset(last)


def _offset(shift: datetime.timedelta) -> str:
    minutes = int(shift.total_seconds()) // 60
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
