"""Entrances: the only ways from a route to the database.

`reads(p)` gives a `Reader`, `writes(p)` a `Work`, `uploads(p)` a `Work` and the body as a stream,
`signed(scheme)` a `Work` for a verified and deduplicated callback, `anyone(limit)` a `Work` for
nobody known, `anyone_reads(limit)` a `Reader` for nobody known, `perhaps(p, limit)` a `Work` where
whoever is signed in counts. A route has exactly one; the application does not start otherwise.
"""

from thenga.kernel.http.entrances.callbacks import Scheme, SignedCall, signed
from thenga.kernel.http.entrances.entrance import Entrance, Limit
from thenga.kernel.http.entrances.headers import note_key
from thenga.kernel.http.entrances.permitted import SLOW_SECONDS, reads, uploads, writes
from thenga.kernel.http.entrances.public import anyone, anyone_reads, perhaps

__all__ = [
    "SLOW_SECONDS",
    "Entrance",
    "Limit",
    "Scheme",
    "SignedCall",
    "anyone",
    "anyone_reads",
    "note_key",
    "perhaps",
    "reads",
    "signed",
    "uploads",
    "writes",
]
