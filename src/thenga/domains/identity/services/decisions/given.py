"""The SQL that says what roles and single assignments give to a member (SEC-58).

The gate and the services that give rights use this one text, so what a role gives when it is
handed out is what the gate allows afterwards. It expects a membership `m` (`organization_id`, `id`)
and a permission `p` around it.
"""

_IN_TIME = """
    {a}.status IN ('active', 'scheduled') AND {a}.valid_from <= {by}
    AND ({a}.valid_to IS NULL OR {a}.valid_to > {at})"""
_SCOPE = "{a}.scope_domain || '.' || {a}.scope_type || '/' || {a}.scope_id"
ASSIGNED = "identity.role_assignment"


def given_rows(*, at: str, by: str | None = None, assigned: str = ASSIGNED) -> str:
    """One row for each way in which `p` is given or denied to `m`, with the resource or null.

    An assignment counts from `valid_from` on; `by` is the latest start that counts, `at` itself
    unless said. `assigned` replaces the stored role assignments. What is given to a role counts
    where the role does; where both name a resource, on both only.
    """
    role_in_time = _IN_TIME.format(a="a", at=at, by=by or at)
    given_in_time = _IN_TIME.format(a="g", at=at, by=by or at)
    role_scope, given_scope = _SCOPE.format(a="a"), _SCOPE.format(a="g")
    return f"""
    SELECT CASE WHEN a.role_code = 'owner' THEN 'owner' ELSE 'role' END AS how, CASE
            WHEN a.role_code = ANY (p.roles) OR p.code = ANY (r.permissions) THEN 'allow'
        END AS effect, {role_scope} AS scope, a.role_code, a.valid_to
    FROM {assigned} a
    LEFT JOIN identity.custom_role r ON r.organization_id = a.organization_id
        AND r.code = a.role_code AND r.status IN ('active', 'deprecated')
    WHERE a.organization_id = m.organization_id AND a.membership_id = m.id AND {role_in_time}
    UNION ALL
    SELECT 'member', g.effect, {given_scope}, NULL, g.valid_to
    FROM identity.permission_assignment g
    WHERE g.organization_id = m.organization_id AND g.target_id = m.id
        AND g.target_type = 'membership' AND g.permission = p.code AND {given_in_time}
    UNION ALL
    SELECT 'through', g.effect, coalesce({given_scope}, {role_scope}), a.role_code,
        least(a.valid_to, g.valid_to)
    FROM {assigned} a
    JOIN identity.custom_role r ON r.organization_id = a.organization_id
        AND r.code = a.role_code AND r.status IN ('active', 'deprecated')
    JOIN identity.permission_assignment g ON g.organization_id = r.organization_id
        AND g.target_id = r.id AND g.target_type = 'role' AND g.permission = p.code
    WHERE a.organization_id = m.organization_id AND a.membership_id = m.id
        AND {role_in_time} AND {given_in_time}
        AND (g.effect = 'deny' OR g.scope_id IS NULL OR a.scope_id IS NULL
             OR {given_scope} = {role_scope})"""  # noqa: S608  # put together from constants
