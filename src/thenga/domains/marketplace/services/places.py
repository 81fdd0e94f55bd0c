"""Where a listing applies, as tokens of its entry and as the level at which it names a place."""

from collections.abc import Container
from dataclasses import dataclass
from typing import get_args

from thenga.domains.marketplace.services.weighing import ServiceLevel
from thenga.domains.marketplace.values.areas import Areas
from thenga.domains.marketplace.values.municipalities import province_of
from thenga.kernel.errors import Problem
from thenga.kernel.values.places import Province

EVERYWHERE = "a:ZA"


class PlaceUnknown(Problem):
    """`municipality` is no code of the Municipal Demarcation Board. Use a code such as `EKU`."""

    code, status, title = "marketplace-place-unknown", 422, "This place is not known"


@dataclass(frozen=True, slots=True)
class Place:
    """A province, or a municipality in it, that somebody needs something in."""

    province: Province
    municipality: str | None = None

    @property
    def tokens(self) -> list[str]:
        """An entry with any of these applies there."""
        if self.municipality is None:
            return [f"p:{self.province}"]
        return [EVERYWHERE, f"a:{self.province}", f"a:{self.municipality}"]

    def level_in(self, tokens: Container[str]) -> ServiceLevel:
        """How closely an entry names this place."""
        if self.municipality is not None and f"a:{self.municipality}" in tokens:
            return "municipality"
        if f"a:{self.province}" in tokens:
            return "province"
        if EVERYWHERE in tokens:
            return "national"
        is_inside = self.municipality is None and f"p:{self.province}" in tokens
        return "province" if is_inside else "none"


def place_of(province: Province | None, municipality: str | None) -> Place | None:
    """The place that was asked for; a municipality says its province itself."""
    if municipality is None:
        return None if province is None else Place(province)
    found = province_of(municipality)
    if found is None or province not in (None, found):
        raise PlaceUnknown()
    return Place(found, municipality)


def tokens_of(areas: Areas) -> list[str]:
    """The places that a listing states (`a:`), and the provinces that it touches (`p:`)."""
    stated = [*areas.provinces, *areas.municipalities]
    touched = {*areas.provinces, *(province_of(code) for code in areas.municipalities)}
    if areas.national:
        stated.append("ZA")
        touched = {*get_args(Province)}
    found = {f"a:{code}" for code in stated} | {f"p:{code}" for code in touched if code}
    return sorted(found)
