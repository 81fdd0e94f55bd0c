"""Who calls in the matrix: two tenants full of marked text, and everybody who may come along."""

from dataclasses import dataclass
from uuid import UUID, uuid4

import asyncpg

from tests.factories import held, identity, organization
from tests.factories.identity import Member, Person
from tests.suites import calls
from tests.suites.calls import keys
from thenga import topology
from thenga.domains.identity.tables import SessionStatus, UserStatus
from thenga.kernel.crypto import tokens
from thenga.kernel.db.rows import rows
from thenga.kernel.declare.permission import Audience, Effect, Granted
from thenga.kernel.process.host import Host

# Text that code compares; everything else that is text is marked.
COMPARED = {
    "status", "mode", "kind", "assurance", "role_code", "fact_key", "purpose", "phc", "origin",
    "record_type", "edge_type", "from_key", "from_type", "to_key", "to_type",
    "membership_status", "id_type",
    "verification_status", "conflict_status", "outcome", "subject_type", "change",
    "code", "permission", "effect", "target_type", "scope_domain", "scope_type", "scope_id",
    "feature", "state", "access", "environment", "sponsor_state", "status_code", "decision",
    "actor_kind", "shape",
    "value_currency", "price_from_currency",
    "book", "plan_code", "interval", "collection_method",
    "collection_status", "reason_code", "edition", "seller_code", "number",
    "provider", "reference", "provider_reference", "item_reference", "bank_reference", "currency",
    "dispute_status", "disputes", "failure", "next_action", "initiated_by", "source",
    "settlement",
    "administration.series.name",
    "billing.payment_failure.category",
    "entitlement", "meter", "operation", "because",
    "administration.support_case.category", "impact", "urgency", "priority", "channel",
    "resolution_code", "author_kind",
    "topic_code", "template_key", "channel_kind", "acknowledgement", "lane", "source_domain",
    "notification.request.category", "notification.notification.category",
    "notification.notification.language", "notification.preference.language",
    "time_zone", "rrule", "starts_at", "next_local", "on_non_working_day", "misfire",
    "acts_for_kind", "policy_key", "recipient_key", "reference_key", "about_key",
    "definition_code", "component", "gate", "document_type_code", "document_class",
    "subject_kind", "valid_basis", "object_key", "sha256", "media_type",
    "proof_kind", "proof_key", "evidence_sha256", "requested_from", "rule_code",
    "compliance.verification.method", "compliance.readiness_snapshot.scope",
    "compliance.risk.subject", "compliance.ai_suggestion.key",
    "envelopes", "envelope", "closing_precision", "tender_status", "due_time", "template",
    "response", "requirement_class", "requirement_kind", "milestone_key", "awarded_currency",
    "bid.outcome.stage",
    "compliance.risk.level", "compliance.risk.raised_by", "compliance.risk.treatment",
    "marketplace.provider.supplier_status", "marketplace.search_entry.trust",
    # What a provider publishes is for everybody.
    "marketplace.search_entry.provider_name", "marketplace.live_listing.content_hash",
}  # fmt: skip
# Columns that hold members of an enumeration.
_ENUMERATED = {
    f"{row.__table__.fullname}.{column}" for row in rows() for column, _ in row.__enums__
}
# What the key may do: everything of an organization that only looks.
READS = [
    granted.code
    for domain in topology.load(topology.DOMAINS)
    for granted in domain.permissions
    if granted.keys and granted.effect is Effect.READ and Audience.TENANT in granted.audiences
]
_COLUMNS = """
    SELECT format('%I.%I', n.nspname, c.relname) AS name, a.attname AS column, t.typname AS type,
           CASE WHEN obj_description(c.oid) IN ('kind: personal', 'kind: sponsored')
                THEN 'user_id' ELSE 'organization_id' END AS holder,
           CASE WHEN obj_description(c.oid) = 'kind: notice' THEN 'NOT shared'
                ELSE 'true' END AS hidden
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE obj_description(c.oid) IN ('kind: private', 'kind: personal', 'kind: two_party',
                                     'kind: published', 'kind: between', 'kind: notice',
                                     'kind: sponsored')
      AND t.typname IN ('text', 'varchar', 'jsonb') AND c.relname <> 'series'
"""


@dataclass(eq=False)
class Tenant:
    """A company whose every text holds its marker."""

    organization_id: UUID
    owner: Member
    viewer: Member
    marker: str

    @property
    def people(self) -> list[UUID]:
        return [self.owner.user_id, self.viewer.user_id]


@dataclass(eq=False)
class Actor:
    """A caller: `home` is whose identifiers are «own» to it, `of` whose text it may see."""

    name: str
    who: Person
    home: Tenant
    headers: dict[str, str]
    of: Tenant | None = None
    role: str | None = None
    refused_as: str | None = None
    scopes: frozenset[str] | None = None  # of a key, which has nothing of its own

    @property
    def lives(self) -> bool:
        return self.refused_as is None

    def holds(self, granted: Granted) -> bool:
        """Whether it is let in; what everybody has of their own a key has not."""
        if self.scopes is not None:
            return granted.code in self.scopes
        if Audience.PERSON in granted.audiences:
            return True
        return self.role == "owner" or self.role in granted.roles


async def tenant(host: Host) -> Tenant:
    """A sandbox company with machines, an owner and a viewer."""
    who = await identity.person(host)
    company = await organization.organization(host, who.user_id, mode="sandbox")
    owner = await identity.member(host, company.id, role="owner", who=who, sandbox=True)
    viewer = await identity.member(host, company.id, role="viewer")
    for number in range(3):
        await organization.equipment(
            host,
            company.id,
            who.user_id,
            category="text",
            make="text",
            model="text",
            serial_number=f"text {number}",
        )
    await calls.spare_session(host, owner)
    await held.granted(host, company.id, held.SEATS, 10_000)
    return Tenant(company.id, owner, viewer, f"canary{uuid4().hex}")


async def plant(admin: asyncpg.Connection, tenant: Tenant) -> int:
    """Put the marker into every text of the tenant and its people; how many columns took it."""
    planted = 0
    # Tables that nothing is changed in refuse the administrator too.
    await admin.execute("SET session_replication_role = replica")
    for name, column, kind, holder, hidden in await admin.fetch(_COLUMNS):
        if {column, f"{name}.{column}"} & (COMPARED | _ENUMERATED):
            continue
        marked = f"'{tenant.marker} {column} ' || id"
        value = marked if kind != "jsonb" else f"to_jsonb({marked})"
        where = hidden if kind != "jsonb" else f"{hidden} AND jsonb_typeof({column}) = 'string'"
        ids = tenant.people if holder == "user_id" else [tenant.organization_id]
        done = await admin.execute(
            f"UPDATE {name} SET {column} = {value} WHERE {holder} = ANY ($1) AND {where}", ids
        )
        planted += done != "UPDATE 0"
    await admin.execute("RESET session_replication_role")
    return planted


async def actors(host: Host, first: Tenant, second: Tenant) -> list[Actor]:
    """Everybody; the dead and the unknown ask as if they were of the first tenant."""
    half = await identity.person(host, session=SessionStatus.PENDING_MFA)
    revoked = await identity.person(host, session=SessionStatus.REVOKED)
    disabled = await identity.person(host, status=UserStatus.DISABLED)
    staff = await identity.person(host, staff=True)
    for gone in (half, revoked, disabled):
        await identity.member(host, first.organization_id, role="owner", who=gone)
    key = await keys.key(host, first.owner, first.organization_id, READS)
    malformed = f"{first.owner.token[:-1]}!"
    nobody = "unauthenticated"

    def bearer(credential: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {credential}"}

    def unknown(name: str, credential: str | None) -> Actor:
        headers = {} if credential is None else bearer(credential)
        return Actor(name, first.owner, first, headers, refused_as=nobody)

    def dead(name: str, who: Person, code: str) -> Actor:
        return Actor(name, who, first, who.headers, refused_as=code)

    return [
        unknown("none", None),
        unknown("malformed", malformed),
        unknown("forged", tokens.mint(tokens.Prefix.ACCESS)),
        unknown("forged key", tokens.mint(tokens.Prefix.KEY_LIVE)),
        Actor("key", first.owner, first, bearer(key), first, scopes=frozenset(READS)),
        dead("half", half, "mfa-required"),
        dead("revoked", revoked, "session-revoked"),
        dead("disabled", disabled, "account-disabled"),
        Actor("staff", staff, first, staff.headers),
        Actor("viewer", first.viewer, first, first.viewer.headers, first, "viewer"),
        Actor("owner", first.owner, first, first.owner.headers, first, "owner"),
        Actor("other owner", second.owner, second, second.owner.headers, second, "owner"),
    ]
