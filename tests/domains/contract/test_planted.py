"""Bugs planted in Contract, each of which a test of this folder finds."""

import itertools
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from tests.conftest import Time
from tests.domains.contract import (
    test_awards,
    test_closeout,
    test_delivery,
    test_invoices,
    test_payments,
    test_records,
    test_variations,
    test_workspaces,
)
from tests.domains.contract.conftest import Play
from tests.domains.contract.deals import Deal, Desk
from tests.domains.contract.sites import Site
from tests.planting import plant
from thenga.domains.contract.services.awards import queries
from thenga.domains.contract.services.closeout import closing
from thenga.domains.contract.services.delivery import milestones, performance, rules, scheduling
from thenga.domains.contract.services.invoicing import arithmetic, moves, payment_clock, submission
from thenga.domains.contract.services.ledger import counters
from thenga.domains.contract.services.suppliers import packages, trust
from thenga.domains.contract.services.variations import execution
from thenga.domains.contract.services.workspaces import moving, opening
from thenga.domains.contract.services.workspaces import rules as workspace_rules
from thenga.domains.contract.values import lateness
from thenga.kernel.errors import NotFound
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money

FOUND = (AssertionError, KeyError, asyncpg.PostgresError)


async def passes(*_: Any, **__: Any) -> None:
    """A check that lets everything pass."""


def ignores(*_: Any, **__: Any) -> None:
    """A check that lets everything pass."""


async def says_not_found(*_: Any, **__: Any) -> None:
    raise NotFound()


def a_day_early(standstill_until: date) -> datetime:
    return local_midnight(standstill_until)


def by_the_day_of_typing(work: Any, milestone: Any, confirmation: Any) -> None:
    confirmation.confirmed_on = work.now.date()
    _honest_reached(work, milestone, confirmation)


_honest_reached = milestones._publish_reached


def calendar_days(due_on: date, done_on: date, extra: Any) -> int:
    return max(0, (done_on - due_on).days)


Bug = tuple[Any, str, Callable[..., Any]]

OF_SITE: dict[str, tuple[Bug, Callable[[Site], Awaitable[None]]]] = {
    "a second contract of one outcome": (
        (opening, "_refuse_second", passes),
        test_awards.test_a_revision_never_opens_a_second_contract,
    ),
    "a plan that does not sum to 100": (
        (rules, "check_baseline", ignores),
        test_delivery.test_a_baseline_sums_to_exactly_100,
    ),
    "lateness by the day of typing": (
        (milestones, "_publish_reached", by_the_day_of_typing),
        test_delivery.test_a_milestone_is_met_with_every_required_deliverable,
    ),
    "a value that changes after an invoice": (
        (packages, "_check_value", ignores),
        test_records.test_the_value_is_fixed_once_acknowledged_or_invoiced,
    ),
    "performance by calendar days": (
        (performance, "_late", calendar_days),
        test_records.test_performance_of_a_package_is_told_to_supplier,
    ),
}


@pytest.mark.parametrize("name", list(OF_SITE))
async def test_a_bug_of_the_first_half_is_found(
    site: Site, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bug, look = OF_SITE[name]
    plant(monkeypatch, *bug)

    with pytest.raises(FOUND):
        await look(site)


async def test_awards_that_look_different_are_found(
    site: Site, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, queries, "lock_award", says_not_found)

    with pytest.raises(FOUND):
        await test_awards.test_unknown_and_foreign_awards_look_alike(site, host)


async def test_a_stand_still_that_is_too_short_is_found(
    site: Site, clock: Time, play: Play, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, workspace_rules, "standstill_ends_at", a_day_early)

    with pytest.raises(FOUND):
        await test_workspaces.test_a_municipality_waits_for_the_appeal_period(
            site, clock, play, host
        )


async def test_an_activation_that_waits_for_nothing_is_found(
    site: Site, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, moving, "_obstacle", ignores)

    with pytest.raises(FOUND):
        await test_workspaces.test_allowed_moves_say_what_activation_waits_for(site, clock)


async def test_lateness_that_waits_for_a_sweep_is_found(
    site: Site, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lateness, "is_overdue", lambda progress, today: False)

    with pytest.raises(FOUND):
        await test_delivery.test_lateness_is_shown_before_a_sweep_and_told_once(site, clock)


async def test_a_blocked_supplier_that_passes_is_found(
    site: Site, host: Host, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, trust, "check_trust", ignores)

    with pytest.raises(FOUND):
        await test_records.test_a_blocked_supplier_needs_a_reason(site, host, play)


def a_cent_less(amount: Money, percent: Any) -> Money:
    return Money(int(amount.minor * percent / 100) - 1, amount.currency)


def forgets(history: list[Any], returned_on: date, reason: Any) -> list[Any]:
    return []


def a_day_late(due: date | None, today: date) -> payment_clock.Bucket:
    return _honest_bucket(due, today - timedelta(days=1))


_honest_bucket = payment_clock.bucket_on
_sequence = itertools.count(1)


async def outside_the_transaction(*_: Any, **__: Any) -> str:
    """A number that a rollback does not give back."""
    return f"INV-{next(_sequence):04d}"


OF_DEAL: dict[str, tuple[Bug, Callable[[Deal], Awaitable[None]]]] = {
    "retention a cent off": (
        (arithmetic, "_percent", a_cent_less),
        test_invoices.test_contract_e_is_invoiced_and_paid_to_the_cent,
    ),
    "a milestone claimed twice": (
        (submission, "_claim_milestones", passes),
        test_invoices.test_two_submits_of_the_last_milestone_pass_once,
    ),
    "numbers outside of the transaction": (
        (submission, "number_of", outside_the_transaction),
        test_invoices.test_parallel_submitters_leave_no_gap,
    ),
    "a clock without its history": (
        (payment_clock, "stop_clock", forgets),
        test_invoices.test_a_return_starts_the_clock_anew,
    ),
    "ageing that begins a day late": (
        (payment_clock, "bucket_on", a_day_late),
        test_invoices.test_ageing_is_right_before_any_job_and_told_once,
    ),
}


@pytest.mark.parametrize("verb", ["credit", "write_off"])
async def test_a_default_that_counts_a_claim_twice_is_found(
    e: Deal, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    plant(monkeypatch, moves, "unclaimed", moves.outstanding)

    counted = {"credit": "credited", "write_off": "writtenOff"}[verb]
    with pytest.raises(FOUND):
        await test_payments.test_unconfirmed_payments_are_not_credited_or_written_off(
            e, verb, counted
        )


@pytest.mark.parametrize("name", list(OF_DEAL))
async def test_a_bug_of_invoices_is_found(
    e: Deal, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bug, look = OF_DEAL[name]
    plant(monkeypatch, *bug)

    with pytest.raises(FOUND):
        await look(e)


async def from_the_original_value(work: Any, money: Any, *, delta: Money, terms: Any) -> Any:
    """Each variation alone, as if there were no other."""
    money.value_minor = 483_000_000 + delta.minor
    return await work.save(money)


OF_DESK: dict[str, tuple[Bug, Callable[[Desk], Awaitable[None]]]] = {
    "a limit that nobody checks": (
        (execution, "_check_limit", passes),
        test_variations.test_the_third_increase_passes_the_limit,
    ),
    "a contract that is revived": (
        (execution, "_check_running", ignores),
        test_variations.test_an_ended_contract_is_not_revived,
    ),
    "a value below what was billed": (
        (execution, "_check_billed", ignores),
        test_variations.test_no_value_below_what_was_billed,
    ),
    "an update that is lost": (
        (counters, "change_value", from_the_original_value),
        test_variations.test_two_second_signatures_at_once_add_up,
    ),
}


@pytest.mark.parametrize("name", list(OF_DESK))
async def test_a_bug_of_variations_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bug, look = OF_DESK[name]
    plant(monkeypatch, *bug)

    with pytest.raises(FOUND):
        await look(desk)


async def test_a_closeout_that_checks_nothing_is_found(
    done: Deal, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, closing, "_refuse_open", ignores)

    with pytest.raises(FOUND):
        await test_closeout.test_a_reversed_payment_keeps_the_contract_open(done, host)


async def test_a_strangers_milestone_that_is_accepted_is_found(
    site: Site, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, scheduling, "refuse_foreign", passes)

    with pytest.raises(FOUND):
        await test_records.test_a_strangers_ids_look_like_random_ones(site, host)
