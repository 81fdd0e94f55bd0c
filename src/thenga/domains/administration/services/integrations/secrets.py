"""Secrets of integrations: sealed when they are set, rotated with a grace, never shown (ADM-40)."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from sqlalchemy import or_, select

from thenga.domains.administration.services.integrations.fingerprints import fingerprint
from thenga.domains.administration.services.integrations.kinds import KINDS, KindCode
from thenga.domains.administration.tables import IntegrationConfiguration, IntegrationSecret
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sealed import seal
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, extensions


class SecretUnknown(Problem):
    """This kind of integration has no secret with this name. Use one that `allowed` lists."""

    code, status, title = "administration-secret-unknown", 422, "This secret does not exist"
    members = extensions(allowed=(list[str], "Names of the secrets you can set."))


class SecretMissing(Problem):
    """An integration can be activated once all required secrets are set. Set those in
    `missing`."""

    code, status, title = "administration-secret-missing", 409, "A secret is missing"
    members = extensions(missing=(list[str], "Secrets that are not set."))


def check_name(kind: KindCode, name: str) -> None:
    """Refuse a secret that this kind of integration does not have."""
    allowed = KINDS[kind].secrets
    if name not in allowed:
        raise SecretUnknown(f"`{kind.value}` has no secret of this name.", allowed=list(allowed))


async def store_secret(
    work: Work,
    integration: IntegrationConfiguration,
    name: str,
    value: str,
    *,
    grace: timedelta = timedelta(0),
) -> str:
    """Seal the next version of a secret; the version before it stays valid during the grace.

    Returns the fingerprint of the new version. The integration is locked or new.
    """
    check_name(KindCode(integration.kind), name)
    known = await work.all(
        select(IntegrationSecret)
        .where(IntegrationSecret.integration_id == integration.id, IntegrationSecret.name == name)
        .order_by(IntegrationSecret.secret_version.desc())
    )
    for one in known:
        await _retire(work, one, is_newest=one is known[0], grace=grace)
    version = known[0].secret_version + 1 if known else 1
    bound_to = f"administration/integration/{integration.id}/{name}/{version}".encode()
    mark = fingerprint(work.host.key("integration-fingerprint"), name, value)
    await work.add(
        IntegrationSecret(
            integration_id=integration.id,
            name=name,
            secret_version=version,
            bound_to=bound_to,
            sealed=seal(work.host, IntegrationSecret, "sealed", value.encode(), bound_to=bound_to),
            fingerprint=mark,
            set_at=work.now,
        )
    )
    return mark


async def _retire(
    work: Work, secret: IntegrationSecret, *, is_newest: bool, grace: timedelta
) -> None:
    """At most two versions exist: the new one, and the one before it during the grace."""
    if not is_newest or not grace:
        await work.remove(secret)
        return
    held = await work.lock(IntegrationSecret, secret.id, beside=True)
    held.valid_until = work.now + grace
    await work.save(held)


async def valid_secrets(
    read: Reader, integration_ids: Iterable[UUID]
) -> dict[UUID, list[IntegrationSecret]]:
    """The secrets that are valid now, by integration, the newest of each name first."""
    found: dict[UUID, list[IntegrationSecret]] = defaultdict(list)
    ids = list(integration_ids)
    if ids:
        until = IntegrationSecret.valid_until
        statement = select(IntegrationSecret).where(
            among(IntegrationSecret.integration_id, ids), or_(until.is_(None), until > read.now)
        )
        order = (IntegrationSecret.name, IntegrationSecret.secret_version.desc())
        for one in await read.all(statement.order_by(*order)):
            found[one.integration_id].append(one)
    return found


async def check_complete(work: Work, integration: IntegrationConfiguration) -> None:
    """Refuse if a required secret is not set."""
    known = {one.name for one in (await valid_secrets(work, [integration.id]))[integration.id]}
    required = KINDS[KindCode(integration.kind)].required
    if missing := [name for name in required if name not in known]:
        raise SecretMissing(
            f"Set {', '.join(missing)} before you activate this integration.", missing=missing
        )


async def purge_replaced(work: Work) -> None:
    """Remove versions whose grace has ended."""
    await work.run(
        "DELETE FROM administration.integration_secret WHERE valid_until <= $1", work.now
    )
