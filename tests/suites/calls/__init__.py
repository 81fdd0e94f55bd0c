"""How each operation is called so that it succeeds: one maker an operation.

Suites that walk all operations take their requests from here; `uncovered` names the operations
that nobody has written a maker for, and a suite fails while there is one.
"""

from collections.abc import Mapping, Sequence

from tests.suites.calls import (
    administration_changes,
    administration_platform,
    administration_support,
    bid_offer,
    bid_work,
    billing,
    billing_documents,
    billing_entitlements,
    billing_payments,
    billing_recovery,
    billing_subscriptions,
    compliance,
    compliance_documents,
    compliance_readiness,
    contract,
    contract_money,
    facts,
    keys,
    marketplace,
    notification_deliveries,
    notification_requests,
    notification_settings,
    notification_times,
    offers,
    opportunity_board,
    opportunity_intake,
    opportunity_tenders,
    organizations,
    people,
    readmodels,
    records,
    rights,
    supplier,
)
from tests.suites.calls.sending import PASSWORD, Body, Ids, Maker, Sent, spare_session
from thenga.kernel.http.document.operations import Operation

MAKERS: dict[str, Maker] = (
    people.MAKERS
    | keys.MAKERS
    | rights.MAKERS
    | organizations.MAKERS
    | facts.MAKERS
    | records.MAKERS
    | offers.MAKERS
    | readmodels.MAKERS
    | billing.MAKERS
    | billing_payments.MAKERS
    | billing_entitlements.MAKERS
    | billing_documents.MAKERS
    | billing_recovery.MAKERS
    | billing_subscriptions.MAKERS
    | administration_support.MAKERS
    | administration_platform.MAKERS
    | notification_requests.MAKERS
    | notification_deliveries.MAKERS
    | notification_settings.MAKERS
    | administration_changes.MAKERS
    | notification_times.MAKERS
    | compliance.MAKERS
    | compliance_documents.MAKERS
    | compliance_readiness.MAKERS
    | contract.MAKERS
    | contract_money.MAKERS
    | opportunity_board.MAKERS
    | opportunity_tenders.MAKERS
    | opportunity_intake.MAKERS
    | bid_work.MAKERS
    | bid_offer.MAKERS
    | supplier.MAKERS
    | marketplace.MAKERS
)

__all__ = [
    "MAKERS",
    "PASSWORD",
    "Body",
    "Ids",
    "Maker",
    "Sent",
    "parameters",
    "path_of",
    "spare_session",
    "uncovered",
]

# Parts of paths that are no identifiers: the same for everybody.
NUMBERS = {"version": "1"}
# What must be asked with, besides the path.
QUERIES = (
    {
        "list_classifications": "?scheme=cidb",
        "get_signal": "?feature=identity.seats",
        "return_from_provider": "?state=unknown&code=unknown",
    }
    | compliance_documents.QUERIES
    | compliance.QUERIES
    | compliance_readiness.QUERIES
)


def path_of(operation: Operation, ids: Ids, parts: Mapping[str, str] | None = None) -> str:
    """The path with its identifiers put in; ids that the body holds are left over."""
    path = operation.path + QUERIES.get(operation.name, "")
    return path.format(**parameters(operation.name, ids, parts))


def parameters(name: str, ids: Ids, parts: Mapping[str, str] | None = None) -> dict[str, str]:
    """Everything that the path of an operation may name."""
    key = facts.KEYS.get(name, facts.ANY_KEY)
    named = {one: str(value) for one, value in ids.items()}
    return NUMBERS | {"factKey": key} | named | dict(parts or {})


def uncovered(operations: Sequence[Operation]) -> set[str]:
    """Operations without a maker, and makers without an operation."""
    return {one.name for one in operations} ^ MAKERS.keys()
