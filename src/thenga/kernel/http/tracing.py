"""A span for each request, where a ratio is set; metrics and logs are ours (observe.py)."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from thenga.kernel.process.settings import Settings

_PARENT = TraceContextTextMapPropagator()


class Spans:
    """Makes the spans of a process; without a ratio it makes none."""

    def __init__(self, settings: Settings) -> None:
        self.provider: TracerProvider | None = None
        self._tracer: trace.Tracer | None = None
        if not settings.trace_ratio:
            return
        self.provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(settings.trace_ratio)),
            resource=Resource.create({"service.name": "thenga"}),
        )
        if settings.otlp_endpoint:
            endpoint = f"{settings.otlp_endpoint.rstrip('/').removesuffix('/v1/traces')}/v1/traces"
            self.provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint)))
        self._tracer = self.provider.get_tracer("thenga")

    @property
    def on(self) -> bool:
        return self._tracer is not None

    @contextmanager
    def request(self, method: str, traceparent: str | None) -> Iterator[trace.Span]:
        """The span of one request, below that of its caller."""
        assert self._tracer is not None  # noqa: S101  # asked only where they are on
        above = _PARENT.extract({"traceparent": traceparent} if traceparent else {})
        with self._tracer.start_as_current_span(
            method, context=above, kind=trace.SpanKind.SERVER
        ) as span:
            yield span


def name_span(span: trace.Span, *, method: str, route: str, status: int) -> None:
    """By the template of the path; never its values, and never the query."""
    span.update_name(f"{method} {route}")
    span.set_attribute("http.request.method", method)
    span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(trace.StatusCode.ERROR)
