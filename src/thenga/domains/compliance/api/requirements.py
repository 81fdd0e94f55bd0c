"""Requirements, and the catalogue that they come from."""

from thenga.kernel.http.doors import router as make_router

router = make_router("Compliance / Requirements")
