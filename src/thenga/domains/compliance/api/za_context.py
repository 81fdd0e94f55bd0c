"""The South African summary."""

from thenga.kernel.http.doors import router as make_router

router = make_router("Compliance / South African context")
