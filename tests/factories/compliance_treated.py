"""Risks and suggestions as rows."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from tests.factories.compliance_rows import document, working
from thenga.domains.compliance.tables import AiSuggestion, Risk
from thenga.kernel.process.host import Host


async def risk(host: Host, organization_id: UUID, **more: Any) -> Risk:
    """A risk of score 20 that a person can treat; no rule closes it."""
    fields: dict[str, Any] = {
        "rule_code": "suggested",
        "subject": f"test:{uuid4()}",
        "raised_by": "suggestion",
        "title": "The tax PIN may not be renewed in time",
        "category": "tax",
        "likelihood": 4,
        "impact": 5,
        "score": 20,
        "level": "critical",
        "actions": [],
    }
    work = working(host, organization_id, uuid4())
    made = await work.add(Risk(organization_id=organization_id, **(fields | more)))
    await work.finish()
    return made


async def suggestion(host: Host, organization_id: UUID, user_id: UUID) -> AiSuggestion:
    """What a machine read out of a document of somebody."""
    paper = await document(host, organization_id, user_id)
    work = working(host, organization_id, user_id)
    made = await work.add(
        AiSuggestion(
            organization_id=organization_id,
            key=f"read/{paper.id}",
            kind="document_facts",
            target_type="document",
            target_id=paper.id,
            target_field="expiresOn",
            base_version=1,
            proposed={"expiresOn": "2099-12-31"},
            proposed_hash=uuid4().hex,
            confidence=Decimal("0.97"),
            sources=[{"document_id": str(paper.id), "version": 1, "page": 1, "excerpt": "2099"}],
            produced_by={"name": "reader", "version": "1", "execution_id": None},
            expires_at=work.now + timedelta(days=60),
            next_check_at=work.now + timedelta(days=60),
        )
    )
    await work.finish()
    return made
