"""What a client sends of submission packs."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.parameters import EntryKey, Sha256
from thenga.domains.bid.services.packs import Channel
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Instant, lines, text, whole

FindingKey = Annotated[str, text(1, 200)]


class PackExtraFile(Body):
    """An extra file of the pack."""

    envelope: Annotated[
        Literal["technical", "financial"], Field(description="Envelope it belongs to.")
    ] = "technical"
    title: Annotated[
        Annotated[str, text(1, 120)] | None, Field(description="Title in the pack.")
    ] = None


class PackChecklistEntry(Body):
    """An item of the checklist."""

    done: Annotated[bool, Field(description="Whether it is done.")]
    note: Annotated[Annotated[str, lines(1, 500)] | None, Field(description="Note.")] = None


class PackOverride(Body):
    """Reason for overriding a finding."""

    reason: Annotated[str, lines(20, 1000), Field(description="Reason, printed in the manifest.")]


_Order = Annotated[
    list[Annotated[str, text(1, 200)]],
    Field(max_length=500, description="IDs of parts in order. Other parts follow by kind."),
]


class AssemblePack(Body):
    """Order, extra files and checklist of a new pack."""

    order: _Order = []
    extra_files: Annotated[
        dict[UUID, PackExtraFile], Field(max_length=200, description="Extra files by ID.")
    ] = {}
    checklist: Annotated[
        dict[EntryKey, PackChecklistEntry], Field(max_length=50, description="Checklist by key.")
    ] = {}


class ChangePack(Body):
    """Changes to a pack, or unsealing."""

    order: Annotated[
        list[Annotated[str, text(1, 200)]] | None,
        Field(max_length=500, description="IDs of parts in order."),
    ] = None
    extra_files: Annotated[
        dict[UUID, PackExtraFile | None] | None,
        Field(max_length=200, description="Extra files by ID. Null removes one."),
    ] = None
    checklist: Annotated[
        dict[EntryKey, PackChecklistEntry | None] | None,
        Field(max_length=50, description="Checklist by key."),
    ] = None
    overrides: Annotated[
        dict[FindingKey, PackOverride | None] | None,
        Field(max_length=100, description="Findings to override, by key."),
    ] = None
    acknowledgements: Annotated[
        dict[FindingKey, bool | None] | None,
        Field(max_length=100, description="High risks to acknowledge, by key."),
    ] = None
    move: Annotated[Literal["unseal"] | None, Field(description="Move to make.")] = None
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None, Field(description="Reason for unsealing the pack.")
    ] = None


class SealPack(Body):
    """The manifest to seal."""

    manifest_sha256: Annotated[Sha256, Field(description="SHA-256 of the manifest you saw.")]


class SubmitPack(Body):
    """How the pack was submitted."""

    channel: Annotated[Channel, Field(description="Method of delivery.")]
    submitted_at: Annotated[
        Instant,
        Field(description="Time of submission, after sealing and not in the future."),
    ]
    place: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Place of delivery.")
    ] = None
    receipt_reference: Annotated[
        Annotated[str, text(1, 120)] | None, Field(description="Receipt number.")
    ] = None
    received_by: Annotated[Annotated[str, text(1, 120)] | None, Field(description="Recipient.")] = (
        None
    )
    copies: Annotated[
        Annotated[int, whole(1, 50)] | None, Field(description="Number of copies.")
    ] = None
    file_ids: Annotated[list[UUID], Field(max_length=10, description="Files that prove it.")] = []
