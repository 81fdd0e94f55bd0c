"""Provinces: the header of a notice names one, and its delivery text may name another (OPP-7)."""

import re

PROVINCES = {
    "eastern cape": "EC",
    "free state": "FS",
    "gauteng": "GP",
    "kwazulu-natal": "KZN",
    "kwazulu natal": "KZN",
    "limpopo": "LP",
    "mpumalanga": "MP",
    "north west": "NW",
    "north-west": "NW",
    "northern cape": "NC",
    "western cape": "WC",
}
NATIONAL = frozenset({"national", "all provinces", "south africa"})
# Towns that delivery texts name without their province; ambiguous names are left out.
_TOWNS = {
    "EC": "east london|gqeberha|port elizabeth|mthatha|bhisho|komani|makhanda|butterworth",
    "FS": "bloemfontein|welkom|bethlehem|kroonstad|sasolburg|phuthaditjhaba",
    "GP": "johannesburg|pretoria|centurion|midrand|soweto|germiston|benoni|vereeniging|krugersdorp",
    "KZN": "durban|pietermaritzburg|richards bay|ulundi|ladysmith|port shepstone|umlazi|newcastle",
    "LP": "polokwane|thohoyandou|tzaneen|lephalale|giyani|mokopane|musina",
    "MP": "mbombela|nelspruit|emalahleni|witbank|secunda|ermelo|middelburg",
    "NW": "mahikeng|mafikeng|rustenburg|klerksdorp|potchefstroom|brits|vryburg",
    "NC": "kimberley|upington|springbok|de aar|kuruman|calvinia",
    "WC": "cape town|bellville|stellenbosch|paarl|worcester|mossel bay|knysna|khayelitsha",
}
_NAMES = {code: re.compile(rf"\b(?:{towns})\b", re.IGNORECASE) for code, towns in _TOWNS.items()}


def province_code(name: str) -> str | None:
    """The code of a province as a source writes its name."""
    return PROVINCES.get(" ".join(name.casefold().split()))


def provinces_in(delivery: str) -> tuple[str, ...]:
    """The provinces that a delivery text names, by themselves or by a town."""
    plain = " ".join(delivery.casefold().split())
    named = {code for name, code in PROVINCES.items() if re.search(rf"\b{name}\b", plain)}
    named |= {code for code, towns in _NAMES.items() if towns.search(plain)}
    return tuple(sorted(named))
