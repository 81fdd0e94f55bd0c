"""Evidence: proofs that are linked to requirements."""

from thenga.kernel.http.doors import router as make_router

router = make_router("Compliance / Evidence")
