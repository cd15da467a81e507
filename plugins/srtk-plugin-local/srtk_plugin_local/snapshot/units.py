"""Units of numbers: currencies and measures, and numbers with one of them."""

from __future__ import annotations

import re

# Spaces between groups of digits, or between a number and its unit: also those that do not break, and narrow ones.
SPACE = "[ \u00a0\u2009\u202f]"
# A minus as typewriters have it, as typesetters do, and the dash that stands for one.
MINUS = "\u2212\u2013-"
_CURRENCIES = """
    $ € £ ¥ ₹ ₽ ₩ ₺ ₴ ₪ ₫ ₱ ฿ US$ A$ C$ R$ kr zł Kč Ft
    USD EUR GBP JPY CNY CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RON BGN RUB UAH TRY ILS AED SAR INR IDR MYR PHP THB VND
    KRW SGD HKD TWD BRL MXN ARS CLP COP ZAR EGP NGN KES
"""
_MEASURES = """
    % ‰ °C °F kg g mg t oz km m cm mm mi ft in km² m² ha l L ml mL cl km/h mph min h ms
    kWh MWh kW MW GW W V Hz kHz MHz GHz kB KB MB GB TB
"""
# Measures with a plural.
_WORDS = "lb hr yr year month week day hour minute second page piece item point mile"


def _any_of(units: str) -> str:
    return "|".join(sorted(map(re.escape, units.split()), key=len, reverse=True))


CURRENCIES = frozenset(_CURRENCIES.split())
# Singular of each unit that is in the plural.
SINGULARS = {f"{unit}s": unit for unit in _WORDS.split()}
# A currency may stand before a number; a measure there makes a code, such as m1.
_CURRENCY, _ANY_UNIT = _any_of(_CURRENCIES), _any_of(" ".join((_CURRENCIES, _MEASURES, _WORDS, *SINGULARS)))
WITH_UNIT = re.compile(
    rf"[+{MINUS}]?(?P<before>{_CURRENCY})?{SPACE}?[+{MINUS}]?\(?(?:(?P<inner>{_CURRENCY}){SPACE}?)?"
    rf"(?P<number>[0-9](?:[0-9.,]|{SPACE}(?=[0-9]))*){SPACE}?(?P<after>{_ANY_UNIT})?\)?{SPACE}?(?P<last>{_ANY_UNIT})?"
)


def unit_pattern(unit: str) -> str:
    """Return the regular expression of a unit, in the singular and the plural."""
    one = SINGULARS.get(unit, unit)
    return f"{one}s?" if f"{one}s" in SINGULARS else re.escape(unit)
