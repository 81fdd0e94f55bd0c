"""Companies that readiness is computed for: one worked example, and random ones."""

from dataclasses import replace
from datetime import date, timedelta
from random import Random
from uuid import UUID

from thenga.domains.compliance.services.readiness.values import (
    Assurance,
    Doubt,
    Fit,
    Gate,
    Need,
    Point,
    Proof,
    Rules,
    Standing,
    Subject,
)

TODAY = date(2026, 11, 16)
RULES = Rules(
    (
        ("registration", 25),
        ("tax", 25),
        ("integrity", 20),
        ("ownership", 10),
        ("labour", 10),
        ("standing", 10),
        ("sector", 10),
        ("tender", 20),
    )
)
MET = Proof(UUID(int=1), standing=Standing.VERIFIED, assurance=Assurance.INTERNAL)
UNVERIFIED = Proof(UUID(int=2))
COMPANY = "organization"


def need(code: str, component: str, weight: int, gate: Gate, *proofs: Proof | None) -> Need:
    """A requirement with one subject for each proof; None is a subject without one."""
    subjects = tuple(
        Subject(f"{COMPANY}:{place}", () if proof is None else (proof,))
        for place, proof in enumerate(proofs)
    )
    return Need(UUID(int=hash(code) % 2**64), code, component, weight, gate, subjects)


def vector() -> list[Need]:
    """The company of CMP-28: Pty Ltd, six people, national."""
    return [
        need("csd_registration", "registration", 10, Gate.HARD, MET),
        need("company_registration", "registration", 6, Gate.HARD, MET),
        need("annual_return", "registration", 5, Gate.SOFT, None),
        need("beneficial_ownership", "registration", 4, Gate.SOFT, UNVERIFIED),
        need("tax_compliance", "tax", 10, Gate.HARD, replace(MET, last_day=date(2026, 12, 15))),
        need("exclusion_lists", "integrity", 8, Gate.HARD, MET),
        need("bidder_disclosure", "integrity", 6, Gate.HARD, MET),
        need("authority_to_sign", "integrity", 4, Gate.HARD, MET),
        need("director_identity", "integrity", 2, Gate.SOFT, MET, None),
        need("bbbee_status", "ownership", 10, Gate.POINTS, UNVERIFIED),
        need("coida_good_standing", "labour", 5, Gate.SOFT, None),
        need("uif_compliance", "labour", 3, Gate.SOFT, MET),
        need("bank_confirmation", "standing", 4, Gate.SOFT, UNVERIFIED),
    ]


def random_world(seed: int) -> tuple[list[Need], date, Point | None]:
    """A company, a day and perhaps a point of a tender, all from one number."""
    chance = Random(seed)  # a test's dice
    codes = [code for code, _ in RULES.component_weights]
    needs = [
        Need(
            UUID(int=place + 1),
            f"code_{place}",
            chance.choice(codes),
            chance.randint(1, 10),
            chance.choice(list(Gate)),
            tuple(
                Subject(str(number), tuple(_proof(chance) for _ in range(chance.choice(COUNTS))))
                for number in range(chance.choice((0, 1, 1, 1, 2, 3)))
            ),
            applies=chance.choice((True,) * 8 + (False, None)),
            needed_at=frozenset(chance.sample(list(Point), chance.randint(1, 3))),
            min_assurance=chance.choice((Assurance.DECLARED, Assurance.INTERNAL)),
            recheck_days=chance.choice((None, None, 7, 30)),
            is_live=chance.random() < 0.2,
        )
        for place in range(chance.randint(0, 9))
    ]
    on = TODAY + timedelta(days=chance.choice((0, 0, 1, 5, 30, 90, 400)))
    return needs, on, chance.choice((None, *Point))


COUNTS = (0, 1, 1, 1, 2, 3)


def _proof(chance: Random) -> Proof:
    def day(*spread: int) -> date | None:
        found = chance.choice((None, *spread))
        return None if found is None else TODAY + timedelta(days=found)

    is_undated = chance.random() < 0.1
    return Proof(
        UUID(int=chance.getrandbits(64)),
        fit=chance.choice((Fit.FITS,) * 6 + (Fit.DOES_NOT_FIT, Fit.NEEDS_PERSON)),
        standing=chance.choice((Standing.VERIFIED,) * 4 + tuple(Standing)),
        first_day=day(-30, 0, 3, 60),
        last_day=None if is_undated else day(-1, 0, 1, 29, 30, 89, 500),
        is_undated=is_undated,
        assurance=chance.choice(list(Assurance)),
        checked_on=day(-40, -8, -7, -1, 0),
        checked_until=day(-1, 0, 4, 30, 180),
        doubt=chance.choice((Doubt.NONE,) * 6 + tuple(Doubt)),
    )
