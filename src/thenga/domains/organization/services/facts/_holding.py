"""Changes that are announced first and count later: the bank account (ORG-37)."""

from dataclasses import dataclass
from uuid import UUID

from thenga.domains.organization import public
from thenga.domains.organization.services.facts._ledger import (
    Picture,
    Source,
    digest_of,
    load_one,
)
from thenga.domains.organization.services.facts._settling import (
    Rules,
    Step,
    hold,
    rules_of,
    settle,
    tell,
    told,
)
from thenga.domains.organization.services.facts._writing import end_checks, end_statement
from thenga.domains.organization.tables import CustomerStatement, Organization, Origin
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, StaleVersion

# Facts whose change is announced first and takes effect later.
HELD = ("bankAccount",)


@dataclass(frozen=True)
class Held:
    """The organization and one fact, locked; `changes` are what time had done before."""

    organization: Organization
    picture: Picture
    rules: Rules
    changes: list[public.FactChange]


async def hold_fact(work: Work, key: str, *, naming: UUID | None = None) -> Held:
    """Lock for a command about one fact; `If-Match` is the fact's version then.

    A statement that is not there is told before a version that is not right, so that what is
    another company's and what never was are answered alike.
    """
    wanted, work.if_match = work.if_match, None
    organization = await hold(work)
    picture = await load_one(work, key)
    if naming is not None and naming not in [one.id for one in picture.live(work.now)]:
        raise NotFound()
    version = 0 if picture.fact is None else picture.fact.version
    if wanted is not None and wanted != version:
        raise StaleVersion(currentVersion=version)
    rules = await rules_of(work)
    return Held(organization, picture, rules, await activate_due(work, picture, rules))


async def announce(work: Work, picture: Picture, held: CustomerStatement) -> public.FactChange:
    """Every owner is told at once; what counts stays until the time is over (ORG-37)."""
    picture.held = held
    work.publish(
        public.SensitiveFactChangeAnnounced(
            organization_id=held.organization_id,
            statement_id=held.id,
            fact_key=held.fact_key,
            effective_from=held.effective_from,
        )
    )
    assert picture.fact is not None  # noqa: S101  # something counts already
    return told(picture.fact, "stated", Origin.CUSTOMER_SUPPLIED)


async def stop_held(work: Work, picture: Picture) -> list[public.FactChange]:
    """Take back a change before it counts."""
    if picture.held is None or picture.fact is None:
        return []
    await end_statement(work, picture.held)
    picture.held = None
    return [told(picture.fact, "withdrawn", Origin.CUSTOMER_SUPPLIED)]


async def activate(work: Work, statement_id: UUID) -> None:
    """The held change takes effect: the old statement ends, the new one counts (ORG-37)."""
    organization = await hold(work)
    held = await work.find(CustomerStatement, id=statement_id)
    if held is None or held.withdrawn_at is not None or held.next_check_at is None:
        return
    picture = await load_one(work, held.fact_key)
    await tell(work, organization, await activate_due(work, picture, await rules_of(work)))


async def activate_due(work: Work, picture: Picture, rules: Rules) -> list[public.FactChange]:
    """What time has already done is written down before anything else is."""
    if picture.held is None or not picture.is_held_over(work.now):
        return []
    before, counts = picture.customer, _pointed(picture)
    if before is not None:
        await end_statement(work, before)
    row = await work.lock(CustomerStatement, picture.held.id)
    row.next_check_at = None
    await work.save(row)
    picture.held, picture.customer = None, row
    if digest_of(before) != row.canonical_hash:
        await end_checks(work, picture, of=digest_of(before))
    follows = counts is None or counts == digest_of(before)
    step = Step(
        "activated",
        Origin.CUSTOMER_SUPPLIED,
        was=counts,
        current=row.canonical_hash if follows else counts,
    )
    return [await settle(work, picture, step, rules)]


def _pointed(picture: Picture) -> bytes | None:
    """The value that counted until now, whatever time has made of it since."""
    sources: list[Source] = [*picture.checks, *picture.imported]
    if picture.customer is not None:
        sources.append(picture.customer)
    return next((digest_of(one) for one in sources if picture.points_at(one)), None)
