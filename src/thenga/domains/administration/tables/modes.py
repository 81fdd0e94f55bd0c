"""Which organizations are sandboxes."""

import sqlalchemy as sa

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow, col


class TenantMode(TenantRow, table="administration.tenant_mode", kind=Kind.PRIVATE, told=False):
    """Whether an organization is a sandbox, whose clock may run ahead."""

    sandbox: Col[bool] = col(sa.Boolean)
