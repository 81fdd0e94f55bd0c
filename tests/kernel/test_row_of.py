"""Rows of requests, events and views of rows: by name, and each wrong name is found at the call."""

from datetime import date
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from pydantic import MISSING, Field

from tests.stalls import Place, Stall, StallAdded, StallStatus, Visit, VisitNoted
from thenga.kernel.db.rows import NOT_STORED, merge_patch
from thenga.kernel.declare.event import Event
from thenga.kernel.http.bodies import Body, Stored
from thenga.kernel.values.by_name import WrongFields
from thenga.kernel.values.fields import text

ORGANIZATION = UUID("019a0000-0000-7000-8000-0000000000c2")
Name = Annotated[str, text(1, 80), Field(description="Name of the stall.")]


class AddStall(Body):
    code: Annotated[str, text(1, 40)]
    name: Name | None = None
    opens_on: date
    place: Place | None = None


class ChangeStall(Body):
    code: Annotated[str, text(1, 40)] | MISSING = MISSING
    name: Annotated[Name | MISSING | None, Field(description="Name; null for none.")] = MISSING
    place: Place | MISSING = MISSING


class StallView(Stored):
    code: str
    status: StallStatus
    place: Place | None
    opens_on: date
    distance_km: int


def request(**more: Any) -> AddStall:
    return AddStall.model_validate({"code": "A7", "opensOn": date(2026, 11, 14), **more})


def stall(**more: Any) -> Stall:
    made = Stall.of(request(), organization_id=ORGANIZATION, **more)
    made.id = uuid4()
    return made


def test_a_row_takes_the_fields_of_a_request_by_name():
    place = {"town": "Giyani", "radiusKm": 5}

    made = Stall.of(request(place=place), organization_id=ORGANIZATION, name="given here")

    assert (made.code, made.name, made.opens_on) == ("A7", "given here", date(2026, 11, 14))
    assert made.place == Place(town="Giyani", radius_km=5)
    assert (made.status, made.landlord_id) == (StallStatus.OPEN, None)


def test_a_plain_value_of_an_enumeration_becomes_its_member():
    class AddWithStatus(AddStall):
        status: str = "closed"

    made = Stall.of(
        AddWithStatus(code="A7", opensOn=date(2026, 1, 1)), organization_id=ORGANIZATION
    )

    assert made.status is StallStatus.CLOSED


class AddMore(AddStall):
    reason: str = "because"


def test_a_field_without_a_column_raises_until_it_is_named():
    given = AddMore.model_validate(request().model_dump(by_alias=True))

    with pytest.raises(WrongFields, match="Stall has no column reason of AddMore"):
        Stall.of(given, organization_id=ORGANIZATION)
    made = Stall.of(given, organization_id=ORGANIZATION, reason=NOT_STORED)

    assert made.code == "A7"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"nmae": "x"}, "Stall has no column nmae"),
        ({"reason": NOT_STORED}, "AddStall has no field reason to leave out"),
    ],
)
def test_a_misspelt_column_raises(more: dict[str, Any], message: str):
    with pytest.raises(WrongFields, match=message):
        Stall.of(request(), organization_id=ORGANIZATION, **more)


def test_a_column_that_nobody_gives_raises():
    with pytest.raises(WrongFields, match="Stall needs organization_id, not in AddStall"):
        Stall.of(request())
    with pytest.raises(WrongFields, match="Visit needs note, stall_id"):
        Visit.of(Body(), organization_id=ORGANIZATION)


def test_a_request_does_not_say_whose_a_row_is():
    class Grasping(AddStall):
        organization_id: UUID
        version: int | MISSING = MISSING

    given = Grasping(code="A7", opensOn=date(2026, 1, 1), organizationId=uuid4())

    with pytest.raises(WrongFields, match="organization_id, version is not copied from Grasping"):
        Stall.of(given)
    made = Stall.of(given, organization_id=given.organization_id, version=1)
    assert made.organization_id == given.organization_id


def test_a_patch_sets_what_was_sent_and_null_is_null():
    row = stall(name="old")

    changed = merge_patch(row, ChangeStall.model_validate({"name": None}))

    assert (changed, row.code, row.name) == (["name"], "A7", None)
    with pytest.raises(WrongFields, match="Stall has no column reason of AddMore"):
        merge_patch(row, AddMore(code="A8", opensOn=date(2026, 1, 1), reason="x"))


def test_an_event_takes_the_columns_of_its_row():
    row = stall()

    event = StallAdded.of(row, by_phone=True)

    assert event == StallAdded(
        organization_id=ORGANIZATION,
        stall_id=row.id,
        code="A7",
        status="open",
        opens_on=row.opens_on,
        by_phone=True,
    )


def test_the_subject_of_an_event_can_be_a_column():
    visit = Visit(organization_id=ORGANIZATION, stall_id=uuid4(), note="Nobody there")

    assert VisitNoted.of(visit).stall_id == visit.stall_id


def test_a_missing_or_misspelt_field_of_an_event_raises():
    row = stall()

    with pytest.raises(WrongFields, match="Stall has no by_phone, which StallAdded needs"):
        StallAdded.of(row)
    with pytest.raises(WrongFields, match="StallAdded has no field by_fone"):
        StallAdded.of(row, by_phone=True, by_fone=True)
    with pytest.raises(WrongFields, match="Stall has no note, which VisitNoted needs"):
        VisitNoted.of(row)  # though the field has a default


def test_an_event_about_another_kind_of_row_needs_its_subject():
    class TripPlanned(Event, type="stalls.TripPlanned.v1", subject="trip_id"):
        """Planted: it is not about a stall."""

        trip_id: UUID

    with pytest.raises(WrongFields, match="Stall has no trip_id, which TripPlanned needs"):
        TripPlanned.of(stall())


def test_a_secret_column_is_never_copied():
    class PinSet(Event, type="stalls.PinSet.v1", subject="stall_id"):
        """Planted: it would publish a secret."""

        stall_id: UUID
        pin: str | None

    class PinView(Stored):
        pin: str | None

    with pytest.raises(WrongFields, match=r"Stall\.pin is secret; PinSet"):
        PinSet.of(stall(pin="1234"))
    with pytest.raises(WrongFields, match=r"Stall\.pin is secret; PinView"):
        PinView.of(stall(pin="1234"))


def test_a_view_takes_the_columns_of_its_row():
    row = stall(place=Place(town="Giyani"))
    row.created_at = row.updated_at = row.opens_on
    row.version = 3

    view = StallView.of(row, distance_km=7)

    assert (view.id, view.version, view.place, view.distance_km) == (row.id, 3, row.place, 7)
    with pytest.raises(WrongFields, match="Stall has no distance_km, which StallView needs"):
        StallView.of(row)
    with pytest.raises(WrongFields, match="StallView has no field distance"):
        StallView.of(row, distance=7)
