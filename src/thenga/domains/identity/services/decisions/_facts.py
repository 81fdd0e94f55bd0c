"""The facts of a decision: one prepared statement, as the gate's own login (IDN-30)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from thenga.kernel.host import Host

# $1 token hash or null, $2 session and $3 person where no token is presented, $4 organization,
# $5 permission, $6 now. A row comes back for dead credentials too, so the reason can be told.
_GATE = """
    WITH credential AS (
        SELECT session_id, user_id, expires_at FROM identity.access_token WHERE hash = $1
        UNION ALL
        SELECT $2::uuid, $3::uuid, NULL WHERE $2::uuid IS NOT NULL
    )
    SELECT
        c.user_id, c.session_id, c.expires_at AS token_expires_at,
        s.status AS session_status, s.kind AS session_kind, s.assurance, s.methods, s.proven_at,
        s.idle_expires_at, s.expires_at AS session_expires_at,
        u.status AS user_status, u.staff,
        o.organization_id AS tenant_id, o.status AS tenant_status, o.ahead,
        m.id AS membership_id, m.status AS membership_status,
        p.domain, p.effect, p.audiences, p.sensitivity, p.agents, p.while_suspended, p.roles,
        p.status AS permission_status,
        EXISTS (
            SELECT 1 FROM identity.role_assignment a
            WHERE a.organization_id = m.organization_id AND a.membership_id = m.id
                AND a.status IN ('active', 'scheduled') AND a.role_code = ANY (p.roles)
                AND a.valid_from <= $6::timestamptz + o.ahead
                AND (a.valid_to IS NULL OR a.valid_to > $6::timestamptz + o.ahead)
        ) AS by_role,
        ps.label AS policy_label
    FROM credential c
    LEFT JOIN identity.session s ON s.user_id = c.user_id AND s.id = c.session_id
    LEFT JOIN identity.user_account u ON u.user_id = c.user_id AND u.id = c.user_id
    LEFT JOIN identity.permission p ON p.code = $5
    LEFT JOIN identity.tenant_mirror o
        ON o.organization_id = coalesce($4::uuid, s.active_organization_id)
    LEFT JOIN identity.membership m
        ON m.organization_id = o.organization_id AND m.user_id = c.user_id
        AND m.status <> 'removed'
    LEFT JOIN identity.policy_set ps ON ps.status = 'enforced'
"""
_POLICY = "SELECT text FROM identity.policy_set WHERE label = $1"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a decision may look at, true at one moment."""

    user_id: UUID
    session_id: UUID
    token_expires_at: datetime | None
    session_status: str | None
    session_kind: str | None
    assurance: str | None
    methods: list[str] | None
    proven_at: datetime | None
    idle_expires_at: datetime | None
    session_expires_at: datetime | None
    user_status: str | None
    staff: bool | None
    tenant_id: UUID | None
    tenant_status: str | None
    ahead: timedelta | None
    membership_id: UUID | None
    membership_status: str | None
    domain: str | None
    effect: str | None
    audiences: list[str] | None
    sensitivity: str | None
    agents: str | None
    while_suspended: bool | None
    roles: list[str] | None
    permission_status: str | None
    by_role: bool
    policy_label: str | None


async def look_up(
    host: Host,
    *,
    token_hash: bytes | None,
    session_id: UUID | None,
    user_id: UUID | None,
    organization_id: UUID | None,
    permission: str,
) -> Facts | None:
    """The facts, outside any transaction; None where the credential is unknown."""
    pool = host.engines.pool("identity", "identity_gate")
    found = await pool.fetchrow(
        _GATE, token_hash, session_id, user_id, organization_id, permission, host.now()
    )
    return None if found is None else Facts(*found)


async def policy_text(host: Host, label: str) -> str:
    """The text of a policy set that this process has not parsed yet."""
    pool = host.engines.pool("identity", "identity_gate")
    found = await pool.fetchrow(_POLICY, label)
    if found is None:
        raise LookupError(f"policy set {label} is not there")
    return str(found["text"])
