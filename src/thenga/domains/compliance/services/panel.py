"""What operators see of an organization's compliance."""

from thenga.domains.compliance.tables import (
    Applicability,
    Document,
    DocumentStatus,
    DocumentVersion,
    Requirement,
    Risk,
    RiskStatus,
    Verification,
    VerificationStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState

_OPEN_RISKS = (RiskStatus.OPEN, RiskStatus.MITIGATING)
_OPEN_VERIFICATIONS = (VerificationStatus.PENDING, VerificationStatus.IN_PROGRESS)


async def summarize(read: Reader) -> Panel:
    """How many documents there are and wait for their scan, and what is open."""
    counts = await panels.count(
        read,
        documents=(Document, Document.status == DocumentStatus.ACTIVE),
        files_in_quarantine=(
            DocumentVersion,
            DocumentVersion.content_status == ContentStatus.QUARANTINED,
        ),
        requirements_undetermined=(
            Requirement,
            Requirement.applicability == Applicability.UNDETERMINED,
        ),
        verifications_open=(Verification, among(Verification.status, _OPEN_VERIFICATIONS)),
        risks_open=(Risk, among(Risk.status, _OPEN_RISKS)),
    )
    shown = {one.key: one.value for one in counts}
    state = PanelState.WARN if shown["risks_open"] else PanelState.OK
    return Panel(figures=list(counts), state=state)
