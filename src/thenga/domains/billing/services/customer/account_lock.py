"""The account lock, which every change of money or plan takes first."""

from thenga.domains.billing.tables import Account, AccountStatus, Parked
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import DependencyUnavailable, NotFound, Problem, extensions

TOO_MANY_LINES = "too_many_lines"

park_account = job_stub("billing.park_account", form=Form.QUEUED, key="{reason}")
free_account = job_stub("billing.free_account", form=Form.QUEUED, key="{reason}")


class AccountParked(Problem):
    """Billing is stopped until an operator has reviewed this account. Access is not affected.
    Contact support if you need to buy or pay now."""

    code, status, title = "billing-account-parked", 409, "Billing of this account is stopped"
    members = extensions(reason=(str, "Why billing is stopped."))


async def lock_account(work: Work) -> Account:
    """Lock the account; every change of money or plan does this first."""
    organization_id = work.organization_id
    try:
        return await work.lock_by(Account, beside=True, organization_id=organization_id)
    except NotFound:
        # A reaction to OrganizationCreated opens it, a moment after the organization exists.
        raise account_opening() from None


def account_opening() -> DependencyUnavailable:
    """The refusal while the account of a new organization is being opened."""
    return DependencyUnavailable(
        "The billing account of this organization is being opened. Try again in a few seconds.",
        headers={"Retry-After": "2"},
        dependency="organization",
    )


def check_open(account: Account) -> None:
    """Refuse new purchases on a closed account."""
    if account.status is AccountStatus.CLOSED:
        raise not_possible(
            "This billing account is closed, so nothing can be bought. Contact support.",
            status=account.status,
            operation="buy",
            allowed=[],
        )


def check_not_parked(account: Account) -> None:
    """Refuse to move money while an operator has to review the account (BIL-51)."""
    if account.parked is not None:
        raise AccountParked(reason=Parked.of_row(account.parked).reason)
