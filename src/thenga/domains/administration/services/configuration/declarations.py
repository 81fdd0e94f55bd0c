"""Declarations: what the manifests say can be changed, written at each deployment (ADM-7)."""

import hashlib
from collections.abc import Sequence
from typing import Any

import rfc8785
from sqlalchemy import select

from thenga.domains.administration.tables import Declaration, DeclarationStatus
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.setting import LAW
from thenga.kernel.process.host import Host


async def sync_declarations(host: Host, domains: Sequence[Domain]) -> None:
    """Write every setting and policy of the manifests. A key that left the code is retired."""
    origin = Origin("deployment", "deployment", "deployment")
    work = Work(host, "administration", Scope(actor=SYSTEM), origin, login="administration_system")
    try:
        declared = declared_by(domains, work)
        for known in await work.all(select(Declaration), limit=10_000):
            gone = {"status": DeclarationStatus.RETIRED}
            await _update(work, known, declared.pop(known.key, gone))
        for fields in declared.values():
            await work.add(Declaration(**fields))
        await work.finish()
    finally:
        await work.close()


def declared_by(domains: Sequence[Domain], work: Work) -> dict[str, dict[str, Any]]:
    """The fields of each declaration, by key."""
    found: dict[str, dict[str, Any]] = {}
    for domain in domains:
        for setting in domain.settings:
            known = found.get(setting.key)
            if known is not None:
                known["domains"] = sorted({*known["domains"], domain.name})
                continue
            schema = setting.schema()
            found[setting.key] = {
                "kind": setting.kind,
                "key": setting.key,
                "domains": [domain.name],
                "schema": schema,
                "default_value": setting.to_json(setting.built_in(work.now).value),
                "schema_hash": hashlib.sha256(rfc8785.dumps(schema)).hexdigest(),
                "approval": setting.approval,
                "title": setting.title,
                "retroactive": setting.domain == LAW,
                "status": DeclarationStatus.ACTIVE,
            }
    return found


async def _update(work: Work, known: Declaration, fields: dict[str, Any]) -> None:
    if any(getattr(known, name) != value for name, value in fields.items()):
        held = await work.lock(Declaration, known.id)
        merge_patch(held, fields)
        await work.save(held)
