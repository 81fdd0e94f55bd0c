"""Buyers: the sphere of government and its procurement law, read from the name of the buyer."""

import re

from thenga.domains.opportunity.services.releases.places import PROVINCES

_MUNICIPAL = re.compile(r"\b(municipality|metro|metropolitan|munisipaliteit|city of)\b", re.I)
_COMPANY = re.compile(
    r"\b(eskom|transnet|prasa|sanral|denel|telkom|rand water|umgeni|magalies|soc|sabc|necsa|"
    r"airports company|post office|(?:development|water) (?:corporation|board))\b",
    re.I,
)
_NATIONAL = re.compile(r"\b(national|department|dept|treasury|south african|parliament)\b", re.I)
_REGIMES = {"municipal": "mfma", "national": "pfma", "provincial": "pfma", "state_company": "other"}


def sphere_of(name: str) -> str:
    """`municipal`, `state_company`, `provincial`, `national` or `other`."""
    if _MUNICIPAL.search(name):
        return "municipal"
    if _COMPANY.search(name):
        return "state_company"
    plain = " ".join(name.casefold().split())
    if any(plain.startswith(province) for province in PROVINCES):
        return "provincial"
    return "national" if _NATIONAL.search(name) else "other"


def regime_of(sphere: str) -> str:
    """The law that a buyer of this sphere follows: `pfma`, `mfma` or `other`."""
    return _REGIMES.get(sphere, "other")
