"""The permission catalogue and the built-in roles, made at deployment from the manifests."""

from collections.abc import Iterable, Sequence
from uuid import UUID, uuid5

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.identity.permissions import PLATFORM_ROLES, TENANT_ROLES
from thenga.domains.identity.services import decisions
from thenga.domains.identity.tables import PermissionEntry
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.process.host import Host

_CATALOGUE = UUID("019a0000-0000-7000-8000-00000000ca7a")

_PERMISSION = """
    INSERT INTO identity.permission (id, created_at, updated_at, version, code, domain, title,
        effect, audiences, sensitivity, feature, keys, agents, while_suspended, roles, scopes, half,
        people_only, status)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 'active')
    ON CONFLICT (code) DO UPDATE SET updated_at = excluded.updated_at,
        version = identity.permission.version + 1, title = excluded.title,
        effect = excluded.effect, audiences = excluded.audiences,
        sensitivity = excluded.sensitivity, feature = excluded.feature, keys = excluded.keys,
        agents = excluded.agents, while_suspended = excluded.while_suspended,
        roles = excluded.roles, scopes = excluded.scopes, half = excluded.half,
        people_only = excluded.people_only, status = 'active'
"""
# A vanished code decides nothing any more, but what refers to it stays readable.
_DEPRECATE = """
    UPDATE identity.permission SET status = 'deprecated'
    WHERE code <> ALL ($1::text[]) AND status = 'active'
"""
_ROLE = """
    INSERT INTO identity.role (id, created_at, updated_at, version, code, title, audience)
    VALUES ($1, $2, $2, 1, $3, $4, $5)
    ON CONFLICT (code) DO UPDATE SET title = excluded.title
"""


async def list_permissions(
    read: Reader,
    paged: Paged,
    *,
    domain: str | None,
    audience: str | None,
    effect: str | None,
    sensitivity: str | None,
    feature: str | None,
    q: str | None,
) -> Slice[PermissionEntry]:
    """The catalogue, deprecated ones too: what refers to them stays readable."""
    statement = select(PermissionEntry)
    statement = where_given(
        statement,
        (PermissionEntry.domain, domain),
        (PermissionEntry.effect, effect),
        (PermissionEntry.sensitivity, sensitivity),
        (PermissionEntry.feature, feature),
    )
    if audience is not None:
        statement = statement.where(sa.literal(audience) == sa.any_(PermissionEntry.audiences))
    if q is not None:
        # Found by position, so that no character of the question is a pattern.
        words = sa.func.lower(PermissionEntry.code + " " + PermissionEntry.title)
        statement = statement.where(sa.func.strpos(words, q.lower()) > 0)
    return await read.page(statement, paged, PermissionEntry.code)


def roles_of(granted: Granted) -> list[str]:
    """Owner and administrator hold every tenant permission; the others what it names (IDN-24)."""
    always = ["owner"] if granted.owner_only else ["owner", "administrator"]
    if Audience.TENANT not in granted.audiences:
        always = []
    return list(dict.fromkeys([*always, *granted.roles]))


async def seed_permissions(host: Host, domains: Sequence[Domain]) -> None:
    """At deployment, as the system login: catalogues are written by nobody else."""
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    work = Work(host, "identity", Scope(actor=SYSTEM), origin, login="identity_system")
    try:
        await publish_catalogue(work, [one for domain in domains for one in domain.permissions])
        await work.finish()
    finally:
        await work.close()


async def publish_catalogue(work: Work, granted: Iterable[Granted]) -> None:
    """Bring the catalogue, the roles and the base policies to what this deployment declares."""
    codes = []
    for one in granted:
        codes.append(one.code)
        await work.run(
            _PERMISSION,
            uuid5(_CATALOGUE, one.code),
            work.now,
            str(one.code),
            one.code.split(":")[0],
            one.title,
            one.effect.value,
            [a.value for a in one.audiences],
            one.sensitivity.value,
            one.feature,
            one.keys,
            one.agents,
            one.while_suspended,
            roles_of(one),
            list(one.scopes),
            one.half,
            one.people_only,
        )
    await work.run(_DEPRECATE, codes)
    for audience, roles in (("tenant", TENANT_ROLES), ("platform", PLATFORM_ROLES)):
        for code, title in roles.items():
            identifier = uuid5(_CATALOGUE, f"role {code}")
            await work.run(_ROLE, identifier, work.now, code, title, audience)
    await decisions.enforce_policies(work)
