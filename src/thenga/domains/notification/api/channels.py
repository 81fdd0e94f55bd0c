"""Channels, and what providers report to them."""

from thenga.kernel.http.doors import router as make_router

router = make_router("Notification / Channels")
