"""The gate's statements: one for people, one for keys, as a login that only reads (IDN-30).

Each is prepared once a connection and returns a row for dead credentials too, so that the reason
can be told. The texts for one question and for many differ in where the questions come from.
"""

from dataclasses import fields
from ipaddress import ip_address
from uuid import UUID

from thenga.domains.identity.services.decisions import given
from thenga.domains.identity.services.decisions._facts import Facts
from thenga.kernel.db.pool import Pool
from thenga.kernel.process.host import Host

_TENANT = "o.organization_id, o.status, o.capabilities_off, o.ahead"
_PERMISSION = """
    c.code, p.domain, p.effect, p.audiences, p.sensitivity, p.feature, p.agents,
    p.while_suspended, p.roles, p.scopes, p.status"""
_SIGNAL = """
    e.state, e.access, e.limit_count, e.used_count, e.resets_at, e.checked_at, ps.label"""
_BESIDE = """
    LEFT JOIN identity.entitlement_signal e
        ON e.organization_id = o.organization_id AND e.feature = p.feature
    LEFT JOIN identity.policy_set ps ON ps.status = 'enforced'"""
_RIGHTS = given.given_rows(at="{now}::timestamptz + o.ahead")

_PEOPLE = f"""
    WITH c AS ({{asked}})
    SELECT
        c.kind, c.user_id, c.session_id, NULL::uuid, c.expires_at,
        s.status, s.kind, s.assurance, s.methods, s.authenticated_at, s.proven_at,
        s.idle_expires_at, s.expires_at,
        u.status, u.staff,
        NULL::text, NULL::text, NULL::timestamptz, NULL::timestamptz, false,
        true, true, false, NULL::interval,
        {_TENANT},
        m.id, m.status,
        {_PERMISSION},
        coalesce(h.any_role, false), coalesce(h.by_role, false), coalesce(h.denied, false),
        h.held_in, h.denied_in,
        coalesce(u.staff AND EXISTS (
            SELECT 1 FROM identity.platform_role_assignment a
            WHERE a.user_id = u.id AND a.status IN ('active', 'scheduled')
                AND a.role_code = ANY (p.roles) AND a.valid_from <= {{now}}::timestamptz
                AND (a.valid_to IS NULL OR a.valid_to > {{now}}::timestamptz)
        ), false),
        {_SIGNAL}, p.half, u.factor_kinds, o.sandbox, coalesce(h.by_owner, false), p.people_only
    FROM c
    LEFT JOIN identity.session s ON s.user_id = c.user_id AND s.id = c.session_id
    LEFT JOIN identity.user_account u ON u.user_id = c.user_id AND u.id = c.user_id
    LEFT JOIN identity.permission p ON p.code = c.code
    LEFT JOIN identity.tenant_mirror o
        ON o.organization_id = coalesce(c.asked, s.active_organization_id)
    LEFT JOIN identity.membership m
        ON m.organization_id = o.organization_id AND m.user_id = c.user_id
        AND m.status <> 'removed'
    LEFT JOIN LATERAL (
        SELECT bool_or(how IN ('role', 'owner')) AS any_role,
            bool_or(how = 'owner' AND effect = 'allow' AND scope IS NULL) AS by_owner,
            bool_or(effect = 'allow' AND scope IS NULL) AS by_role,
            bool_or(effect = 'deny' AND scope IS NULL) AS denied,
            array_agg(scope) FILTER (WHERE effect = 'allow' AND scope IS NOT NULL) AS held_in,
            array_agg(scope) FILTER (WHERE effect = 'deny' AND scope IS NOT NULL) AS denied_in
        FROM ({_RIGHTS}) AS given
    ) h ON m.id IS NOT NULL{_BESIDE}
    ORDER BY c.n"""  # noqa: S608  # put together from constants
# By a token that is shown, or, where there is none, as somebody who is known already.
_PERSON = _PEOPLE.format(
    asked="""
        SELECT 'user' AS kind, session_id, user_id, expires_at, $5::uuid AS asked,
            $6::text AS code, 1 AS n
        FROM identity.access_token WHERE hash = $1
        UNION ALL
        SELECT $2::text, $3::uuid, $4::uuid, NULL, $5::uuid, $6::text, 1 WHERE $1::bytea IS NULL
    """,
    now="$7",
)
_MANY_PEOPLE = _PEOPLE.format(
    asked="""
        SELECT kind, session_id, user_id, NULL::timestamptz AS expires_at, asked, code, n
        FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[])
            WITH ORDINALITY AS q(kind, session_id, user_id, asked, code, n)
    """,
    now="$6",
)

# A key has one organization; one that asks for another finds none (IDN-40).
_KEYS = f"""
    WITH c AS ({{asked}})
    SELECT
        'api_key', NULL::uuid, NULL::uuid, k.id, NULL::timestamptz,
        NULL::text, 'key', NULL::text, ARRAY[]::text[], NULL::timestamptz, NULL::timestamptz,
        NULL::timestamptz, NULL::timestamptz,
        NULL::text, false,
        k.status, k.status_code, k.expires_at, k.grace_ends_at,
        p.keys AND c.code = ANY (k.scopes),
        cardinality(k.allowed_networks) = 0
            OR coalesce({{network}}::text::inet <<= ANY (k.allowed_networks), false),
        true, false, NULL::interval,
        CASE WHEN coalesce(c.asked, o.organization_id) = o.organization_id
            THEN o.organization_id END, o.status, o.capabilities_off, o.ahead,
        NULL::uuid, NULL::text,
        {_PERMISSION},
        false, false, false, NULL::text[], NULL::text[], false,
        {_SIGNAL}, p.half, NULL::text[], o.sandbox, false, p.people_only, k.sponsor_user_id
    FROM c
    {{joined}}
    LEFT JOIN identity.permission p ON p.code = c.code
    LEFT JOIN identity.tenant_mirror o ON o.organization_id = k.organization_id{_BESIDE}
    ORDER BY c.n"""  # noqa: S608  # put together from constants
_KEY = _KEYS.format(
    asked="SELECT $2::uuid AS asked, $3::text AS code, 1 AS n",
    network="$4",
    joined="JOIN identity.api_key k ON k.hash = $1",
)
_MANY_KEYS = _KEYS.format(
    asked="""
        SELECT key_id, asked, code, n FROM unnest($1::uuid[], $2::uuid[], $3::text[])
            WITH ORDINALITY AS q(key_id, asked, code, n)
    """,
    network="$4",
    joined="LEFT JOIN identity.api_key k ON k.id = c.key_id",
)
_POLICY = "SELECT text FROM identity.policy_set WHERE label = $1"


async def of_token(
    host: Host, token_hash: bytes, *, organization_id: UUID | None, permission: str
) -> Facts | None:
    """The facts of whoever shows this token, outside any transaction; None if it is unknown."""
    found = await _pool(host).fetchrow(
        _PERSON, token_hash, None, None, None, organization_id, permission, host.now()
    )
    return None if found is None else Facts(*found)


async def of_key(
    host: Host, key_hash: bytes, *, organization_id: UUID | None, permission: str, network: str
) -> Facts | None:
    """The facts of whoever shows this key; None if it is unknown."""
    address = _address(network)
    found = await _pool(host).fetchrow(_KEY, key_hash, organization_id, permission, address)
    return None if found is None else Facts(*found)


# Kind, session, person or key, organization, permission.
Known = tuple[str, UUID | None, UUID | None, UUID | None, str]


async def of_known(host: Host, asked: list[Known]) -> list[Facts]:
    """The facts of people and services who are known already, in order, by one statement."""
    if not asked:
        return []
    columns = [list(column) for column in zip(*asked, strict=True)]
    rows = await _pool(host).fetch(_MANY_PEOPLE, *columns, host.now())
    return [Facts(*row) for row in rows]


async def of_known_keys(
    host: Host, asked: list[tuple[UUID, UUID | None, str]], *, network: str
) -> list[Facts | None]:
    """The facts of keys that are known already, in order, by one statement."""
    if not asked:
        return []
    columns = [list(column) for column in zip(*asked, strict=True)]
    rows = await _pool(host).fetch(_MANY_KEYS, *columns, _address(network))
    return [None if row[_KEY_ID] is None else Facts(*row) for row in rows]


_KEY_ID = [field.name for field in fields(Facts)].index("key_id")


async def policy_text(host: Host, label: str) -> str:
    """The text of a policy set that this process has not parsed yet."""
    found = await _pool(host).fetchrow(_POLICY, label)
    if found is None:
        raise LookupError(f"policy set {label} is not there")
    return str(found["text"])


def _pool(host: Host) -> Pool:
    return host.engines.pool("identity", "identity_gate")


def _address(network: str) -> str | None:
    """What the server can read as an address; anything else is in no network."""
    try:
        return str(ip_address(network))
    except ValueError:
        return None
