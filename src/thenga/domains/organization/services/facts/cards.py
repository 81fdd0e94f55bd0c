"""The card: what displays for other companies may show of one, kept with every change."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.organization import public
from thenga.domains.organization.tables import Organization, OrganizationCard
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work


@dataclass(frozen=True)
class Facts:
    """What the card takes from the profile; only public facts."""

    legal_form: str | None
    registration_number: str | None
    verified: list[dict[str, Any]]


async def refresh(work: Work, organization: Organization, facts: Facts) -> None:
    """Bring the card to what counts now, in the transaction of the change."""
    known = await work.find(OrganizationCard, id=organization.id)
    shown: dict[str, Any] = {
        "display_name": organization.display_name,
        "legal_form": facts.legal_form,
        "registration_number": facts.registration_number,
        "status": organization.status.value,
        "verified_facts": facts.verified,
        "as_of_version": organization.version,
    }
    if known is None:
        card = OrganizationCard(id=organization.id, organization_id=organization.id, **shown)
        await work.add(card)
        return
    held = await work.lock(OrganizationCard, organization.id)
    merge_patch(held, shown)
    await work.save(held)


async def cards_of(read: Reader, organization_ids: list[UUID]) -> list[OrganizationCard]:
    """The cards that are there; a closed company has none."""
    wanted = among(OrganizationCard.id, organization_ids)
    return await read.all(select(OrganizationCard).where(wanted))


def shown_card(card: OrganizationCard, now: datetime) -> public.Card:
    """A card as it is told; a check that is over is left out before any sweep says so."""
    verified = [public.VerifiedFact.model_validate(_snake(one)) for one in card.verified_facts]
    return public.Card(
        organization_id=card.organization_id,
        display_name=card.display_name,
        legal_form=card.legal_form,
        registration_number=card.registration_number,
        provinces=card.provinces,
        status=card.status,
        verified_facts=[
            one for one in verified if one.valid_until is None or one.valid_until > now
        ],
        as_of_version=card.as_of_version,
    )


def _snake(fact: dict[str, Any]) -> dict[str, Any]:
    return {
        "fact_key": fact["factKey"],
        "checked_at": fact["checkedAt"],
        "valid_until": fact["validUntil"],
    }
