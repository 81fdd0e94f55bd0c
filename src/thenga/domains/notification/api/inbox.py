"""A person's own messages."""

from thenga.kernel.http.doors import router as make_router

router = make_router("Notification / Inbox")
