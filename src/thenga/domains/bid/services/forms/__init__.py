"""Forms: the dated catalogue, answers by reference, print and signatures (BID-18 to 25)."""

from thenga.domains.bid.services.forms.adding import (
    Created,
    EditionNotInForce,
    FormUnknown,
    Wanted,
    create,
    create_from_tender,
    event_of,
)
from thenga.domains.bid.services.forms.catalogue import (
    definition_of,
    list_definitions,
    seed_catalogue,
)
from thenga.domains.bid.services.forms.forms import (
    AnswerInvalid,
    Change,
    DeclarationContradiction,
    FormIncomplete,
    Shown,
    change,
    get_form,
    read_form,
)
from thenga.domains.bid.services.forms.outdating import (
    outdate_declarations,
    outdate_for,
    price_differs,
    refresh_uses,
)
from thenga.domains.bid.services.forms.rendering import RENDERER, count_pages
from thenga.domains.bid.services.forms.signing import (
    ESignatureRefused,
    RenderingChanged,
    Signing,
    SigningAuthorityMissing,
    e_signature,
    live_signatures,
    sign,
    signatures_of,
    verify,
)

__all__ = [
    "RENDERER",
    "AnswerInvalid",
    "Change",
    "Created",
    "DeclarationContradiction",
    "ESignatureRefused",
    "EditionNotInForce",
    "FormIncomplete",
    "FormUnknown",
    "RenderingChanged",
    "Shown",
    "Signing",
    "SigningAuthorityMissing",
    "Wanted",
    "change",
    "count_pages",
    "create",
    "create_from_tender",
    "definition_of",
    "e_signature",
    "event_of",
    "get_form",
    "list_definitions",
    "live_signatures",
    "outdate_declarations",
    "outdate_for",
    "price_differs",
    "read_form",
    "refresh_uses",
    "seed_catalogue",
    "sign",
    "signatures_of",
    "verify",
]
