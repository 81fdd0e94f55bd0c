"""In which province a municipality lies, by its code of the Municipal Demarcation Board.

Local municipalities begin with the letters of their province and districts with `DC`; the eight
metropolitan ones have letters of their own.
"""

import re

from thenga.kernel.values.places import Province

_METROS: dict[str, Province] = {
    "BUF": "EC",
    "NMA": "EC",
    "MAN": "FS",
    "EKU": "GP",
    "JHB": "GP",
    "TSH": "GP",
    "ETH": "KZN",
    "CPT": "WC",
}
_LETTERS: dict[str, Province] = {
    "EC": "EC",
    "FS": "FS",
    "GT": "GP",
    "KZN": "KZN",
    "LIM": "LP",
    "MP": "MP",
    "NW": "NW",
    "NC": "NC",
    "WC": "WC",
}
_DISTRICTS: dict[Province, tuple[int, ...]] = {
    "WC": (1, 2, 3, 4, 5),
    "NC": (6, 7, 8, 9, 45),
    "EC": (10, 12, 13, 14, 15, 44),
    "FS": (16, 18, 19, 20),
    "KZN": (21, 22, 23, 24, 25, 26, 27, 28, 29, 43),
    "MP": (30, 31, 32),
    "LP": (33, 34, 35, 36, 47),
    "NW": (37, 38, 39, 40),
    "GP": (42, 48),
}
_OF_DISTRICT = {number: province for province, own in _DISTRICTS.items() for number in own}
_CODE = re.compile("([A-Z]{2,3})([0-9]{1,3})")


def province_of(code: str) -> Province | None:
    """The province of a municipality, or None where no municipality has such a code."""
    if code in _METROS:
        return _METROS[code]
    found = _CODE.fullmatch(code)
    if found is None:
        return None
    letters, number = found[1], found[2]
    if letters == "DC":
        return _OF_DISTRICT.get(int(number))
    return _LETTERS.get(letters) if len(number) >= 2 else None
