"""What registers, files and merged companies say; imports call this for each cell."""

from typing import Any

from thenga.domains.organization.services.facts import fact_types, fact_values
from thenga.domains.organization.services.facts._ledger import Picture, digest_of, load
from thenga.domains.organization.services.facts._settling import (
    Step,
    hold,
    rules_of,
    settle,
    tell,
)
from thenga.domains.organization.services.facts._stating import COMPARED, Given, normal_of
from thenga.domains.organization.services.facts._writing import end_statement, sealed_for
from thenga.domains.organization.services.facts.fact_values import Normal
from thenga.domains.organization.tables import ImportedStatement, Origin
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id


async def state_imported(
    work: Work, key: str, value: Any, *, register: str, source: dict[str, Any]
) -> Picture:
    """It stands beside the customer's own statement; a newer one of the register takes its place.

    `register` is `cipc_register`, `csd_report`, `verified_document`, `import` or a name of its own.
    """
    organization = await hold(work)
    rules = await rules_of(work)
    pictures = await load(work, {key, *COMPARED})
    picture = pictures[key]
    given = Given(fact_types.read(key, value, pointer="/value"))
    normal = (await normal_of(work, {key: given}, pictures, rules))[key]
    digest = fact_values.digest(work.host, work.organization_id, key, normal.value)
    known = next((one for one in picture.imported if one.register == register), None)
    if digest_of(known) == digest:
        return picture
    counts = picture.effective(work.now)
    if known is not None:
        await end_statement(work, known)
        picture.imported.remove(known)
    picture.imported.append(await _add(work, key, normal, digest, register, source))
    follows = known is not None and digest_of(counts) == known.canonical_hash
    step = Step(
        "stated",
        Origin.IMPORTED,
        was=digest_of(counts),
        current=digest if follows else digest_of(counts),
    )
    await tell(work, organization, [await settle(work, picture, step, rules)])
    return picture


async def _add(
    work: Work, key: str, normal: Normal, digest: bytes, register: str, source: dict[str, Any]
) -> ImportedStatement:
    made = ImportedStatement(
        id=new_id(),
        organization_id=work.organization_id,
        fact_key=key,
        register=register,
        canonical_hash=digest,
        warnings=list(normal.warnings),
        source=source,
        stated_by=work.actor.id,
        effective_from=work.now,
    )
    if fact_values.is_sealed(key):
        made.imported_sealed = await sealed_for(work, made, key, normal.value)
    else:
        made.imported_value = normal.value
    return await work.add(made)
