"""The second half of a bid: a company that may sign, prices, forms, approvals, packs and files."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from tests.factories import bid as factory
from tests.factories import facts
from tests.factories import identity as people
from tests.factories import opportunity_board as tenders
from tests.factories import organization as companies
from tests.factories.compliance_documents import pdf
from tests.factories.identity import Member
from thenga.domains.bid.reactions.organization import outdate_by_facts
from thenga.domains.bid.services import files
from thenga.domains.bid.services.forms import catalogue
from thenga.domains.bid.services.pricing import workbooks
from thenga.domains.bid.services.pricing.arithmetic import VatStatus
from thenga.domains.bid.services.pricing.workbooks import Vat
from thenga.domains.bid.tables import (
    Approval,
    BidFile,
    FormStatus,
    Pack,
    PackStatus,
    SbdForm,
    Workbook,
    WorkbookStatus,
    Workspace,
)
from thenga.domains.bid.values.prices import Content, Item, ItemKind
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.domains.organization.public import FactChange, ProfileFactChanged
from thenga.domains.organization.tables import (
    Director,
    FlagDeclaration,
    Organization,
    OrganizationStatus,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

NAME = 'Mokoena Civils #read("secret.txt") (Pty) Ltd'
ID_NUMBER = "8001015009087"
GOALS = [
    {"key": "women", "text": "Women", "points8020": 4, "points9010": 2, "proof": "certificate"},
    {"key": "youth", "text": "Youth", "points8020": 16, "points9010": 8, "proof": None},
]
TERMS: dict[str, Any] = {
    "validityDays": 90,
    "preference": {"system": "80_20", "contract": "purchase", "goals": GOALS},
    "submission": {
        "channels": ["box"],
        "address": "1 Church Street, Pietermaritzburg",
        "envelopes": "single",
        "eSignature": "accepted",
    },
    "forms": [
        {"title": "Invitation to bid", "code": "SBD 1"},
        {"title": "Pricing schedule – firm prices (purchases)", "code": "SBD 3.1"},  # noqa: RUF001
        {"title": "Bidder's disclosure", "code": "SBD 4"},
        {"title": "Preference points claim form", "code": "SBD 6.1"},
        {"title": "Integrity pact of the department", "code": None},
    ],
}
# BID-26 in the words of the API.
ITEMS: dict[str, Any] = {
    "1": {"position": 1, "description": "Trench", "quantity": "125.5", "unitRate": "387.45"},
    "2": {"position": 2, "description": "Bedding", "quantity": "17.333", "unitRate": "1845.67"},
    "3": {"position": 3, "description": "Nails", "quantity": "2.5", "unitRate": "0.33"},
    "4": {"position": 4, "description": "Site", "kind": "lump_sum", "unitRate": "250000.00"},
    "5": {
        "position": 5,
        "description": "Water",
        "kind": "provisional_sum",
        "unitRate": "100000.00",
    },
    "6": {
        "position": 6,
        "description": "Attendance",
        "kind": "percentage",
        "unitRate": "10",
        "percentOf": ["5"],
    },
}
PRICE: dict[str, Any] = {"items": ITEMS, "discountPercent": "2.5", "validityDays": 90}
# BID-36: total 1 150 000.00 with VAT, cost 780 000.00.
CASH: dict[str, Any] = {
    "items": {
        "1": {
            "description": "Works",
            "kind": "lump_sum",
            "unitRate": "1000000.00",
            "cost": "780000.00",
        }
    },
    "validityDays": 90,
    "cashTerms": {
        "deliveryDays": 45,
        "acceptanceDays": 10,
        "supplierCreditPercent": "30",
        "supplierTermsDays": 30,
        "retentionPercent": "5",
    },
}


async def bidder(host: Host, *, vendor: bool | None = True) -> Member:
    """The owner of a company with a profile, who may sign for it."""
    who = await people.person(host)
    made = await companies.organization(host, who.user_id, name=NAME)
    owner = await people.member(host, made.id, role="owner", who=who)
    here = (host, made.id, who.user_id)
    await factory.room(host, made.id)
    if vendor is not None:
        stated: dict[str, Any] = {"vatRegistered": vendor}
        if vendor:
            stated["vatNumber"] = "4123456782"
        await facts.stated(*here, **stated)
    await facts.stated(*here, registrationNumber="2011/123456/07")
    await companies.address(*here, kind="branch", primary=True)
    await companies.contact(*here, phone="+27333456789", primary=True)
    await signatory(*here)
    return owner


async def known_company(host: Host, organization_id: UUID, user_id: UUID) -> None:
    """Organization's own row of a company that other factories made up."""
    work = companies.working(host, user_id, organization_id)
    if await work.find(Organization, id=organization_id) is None:
        await work.add(
            Organization(
                id=organization_id,
                organization_id=organization_id,
                organization_type="enterprise",
                mode="live",
                time_zone="Africa/Johannesburg",
                locale="en-ZA",
                status=OrganizationStatus.ACTIVE,
                display_name=NAME,
                created_by=user_id,
            )
        )
    await work.finish()


async def signatory(host: Host, organization_id: UUID, user_id: UUID, **authority: Any) -> None:
    """A member who may sign for the company."""
    held = {
        "evidence_ref": {"domain": "compliance", "type": "document", "id": str(uuid4())},
        "valid_from": "2020-01-01",
        "valid_to": None,
        "limit": None,
    }
    await companies.organization_user(
        host,
        organization_id,
        user_id,
        bid_roles=["signatory"],
        signing_authority=held | authority,
    )


async def director(host: Host, owner: Member, **fields: Any) -> Director:
    """A director with a South African identity number."""
    work = companies.working(host, owner.user_id, owner.organization_id)
    known = {"given_names": "Nomsa", "surname": "Dube", "role": "director", "id_type": "za_id"}
    made = await companies.directors.add(work, id_number=ID_NUMBER, fields=known | fields)
    await work.finish()
    return made


async def flagged(host: Host, owner: Member, who: Director, flag: str) -> None:
    """The company declared of a director that it is so."""
    work = companies.working(host, owner.user_id, owner.organization_id)
    await work.add(
        FlagDeclaration(
            organization_id=owner.organization_id,
            director_id=who.id,
            flag=flag,
            declared_value="yes",
            declared_on=work.now.date(),
        )
    )
    await work.finish()


async def react_to_fact(host: Host, owner: Member, key: str) -> None:
    """Let Bid hear that a fact was stated anew."""
    held = await facts.picture(host, owner.organization_id, owner.user_id, key)
    assert held.fact is not None
    event = ProfileFactChanged(
        organization_id=owner.organization_id,
        changes=[
            FactChange(
                fact_key=key,
                fact_version=held.fact.version,
                kind="customer_supplied",
                change="stated",
                conflict_status="none",
                verification_status="unverified",
            )
        ],
    )
    work = factory.working(host, owner.organization_id)
    await outdate_by_facts(work, event)
    await work.finish()


async def tender(host: Host, *, terms: dict[str, Any] | None = None, **fields: Any) -> Any:
    """An open tender under the PFMA with terms and forms."""
    buyer = {"buyer_name": "Department of Works", "buyer_sphere": "provincial"}
    made = await factory.tender(host, buyer=buyer | {"buyer_regime": "pfma"}, **fields)
    work = tenders.working(host, made.organization_id)
    held = await work.lock(TenderOpportunity, made.id)
    held.terms = TERMS if terms is None else terms
    await work.save(held)
    await work.finish()
    return held


async def workspace(
    host: Host, owner: Member, *, terms: dict[str, Any] | None = None, **fields: Any
) -> Workspace:
    """A workspace of such a tender."""
    closing = {"closing_at": fields.pop("closing_at")} if "closing_at" in fields else {}
    of = await tender(host, terms=terms, **closing)
    return await factory.workspace(
        host, owner.organization_id, owner.user_id, of_tender=of, **fields
    )


def content(total: str = "100.00") -> Content:
    """A price with one item."""
    item = Item(position=1, kind=ItemKind.LUMP_SUM, description="Works", unit_rate=Decimal(total))
    return Content(items={"1": item}, validity_days=90)


async def workbook(
    host: Host, organization_id: UUID, workspace_id: UUID, total: str = "100.00"
) -> Workbook:
    """The price of a bid by a VAT vendor, without going through the API."""
    work = factory.working(host, organization_id)
    held, vat = content(total), Vat(VatStatus.VENDOR, None, Decimal("15"))
    made = Workbook(
        id=new_id(),
        organization_id=organization_id,
        workspace_id=workspace_id,
        content_sha256=held.sha256(),
        total_minor=int(Decimal(total) * 115),
        authors=[],
    )
    await work.add(made)
    await workbooks._add_version(work, made, held, vat)
    await work.finish()
    return made


async def form(
    host: Host,
    organization_id: UUID,
    workspace_id: UUID,
    code: str = "SBD 4",
    status: FormStatus = FormStatus.NOT_STARTED,
) -> SbdForm:
    """A form of a bid."""
    found = catalogue.definition_of(code, None)
    assert found is not None
    rendering = {"file_id": str(uuid4()), "sha256": "a" * 64, "pages": 1, "renderer": "test"}
    return await _add(
        host,
        SbdForm(
            organization_id=organization_id,
            workspace_id=workspace_id,
            form_code=found.form_code,
            edition=found.edition,
            title=found.title,
            answers={},
            status=status,
            rendering=rendering if status is FormStatus.COMPLETED else None,
        ),
    )


async def approval(
    host: Host, organization_id: UUID, subject: Workbook, requested_by: UUID | None
) -> Approval:
    """An approval of a price that waits for a decision."""
    work = factory.working(host, organization_id)
    ends = work.now + timedelta(days=5)
    held = await work.lock(Workbook, subject.id)
    held.status = WorkbookStatus.PENDING_APPROVAL
    await work.save(held)
    made = Approval(
        organization_id=organization_id,
        workspace_id=subject.workspace_id,
        kind="price",
        subject_id=subject.id,
        subject_version=subject.version_number,
        subject_sha256=subject.content_sha256,
        approver_user_ids=[],
        needed_count=1,
        decisions=[],
        shown={},
        shown_sha256="b" * 64,
        requested_by=requested_by,
        expires_at=ends,
        next_check_at=ends,
    )
    await work.add(made)
    await work.finish()
    return made


async def pack(
    host: Host,
    organization_id: UUID,
    workspace_id: UUID,
    status: PackStatus = PackStatus.BUILT,
    **fields: Any,
) -> Pack:
    """A pack that holds nothing."""
    work = factory.working(host, organization_id)
    given: dict[str, Any] = {
        "file_order": [],
        "extra_files": {},
        "checklist": {},
        "overrides": {},
        "acknowledgements": {},
        "build": {"status": "succeeded", "done": 0, "total": 0},
        "findings": [],
        "pins": [],
        "envelopes": [],
        "manifest_sha256": "c" * 64,
        "as_of": work.now,
        "sealed_at": work.now - timedelta(minutes=1) if status is PackStatus.SEALED else None,
    }
    made = Pack(
        organization_id=organization_id,
        workspace_id=workspace_id,
        number=1,
        status=status,
        **given | fields,
    )
    await work.add(made)
    await work.finish()
    return made


async def clean_file(
    host: Host,
    organization_id: UUID,
    workspace_id: UUID,
    *,
    bytes_: bytes | None = None,
    name: str = "annex.pdf",
    price: bool = False,
) -> BidFile:
    """A clean file with bytes in the store."""
    stored = await files.put(host.files, organization_id, bytes_ or pdf(mark=str(uuid4())))
    work = factory.working(host, organization_id)
    held = await work.get(Workspace, workspace_id)
    made = await files.keep(work, held, stored, name=name, purpose="attachment", price=price)
    await work.finish()
    return made


async def _add(host: Host, row: Any) -> Any:
    work = factory.working(host, row.organization_id)
    await work.add(row)
    await work.finish()
    return row
