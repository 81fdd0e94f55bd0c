"""Documents and their files."""

from thenga.kernel.http.doors import router as make_router

router = make_router("Compliance / Documents")
