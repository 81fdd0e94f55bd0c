"""The compliance profile of an organization."""

from thenga.kernel.http.doors import router as make_router

router = make_router("Compliance / Profiles")
