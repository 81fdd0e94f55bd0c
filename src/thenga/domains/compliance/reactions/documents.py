"""What Compliance does when it has itself told of a document."""

from thenga.domains.compliance import public
from thenga.domains.compliance.reactions.declared import reactions
from thenga.domains.compliance.services import suggestions
from thenga.kernel.db.work import Work


@reactions.on(public.DocumentUploaded)
async def supersede_suggestions(work: Work, event: public.DocumentUploaded) -> None:
    """What was read out of an older version is no longer offered (CMP-36)."""
    await suggestions.supersede(work, event.document_id, version=event.document_version)
