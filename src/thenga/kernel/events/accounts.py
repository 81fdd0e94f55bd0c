"""The accounts of NATS: one a domain, made from its manifest (SEC-63), and one for workers.

An account is a closed room: its login publishes on its own subjects into its own stream, and what
another domain tells comes only through the consumer that its reactions name. A worker that runs
several domains has one login for all of them (docs/decisions/0032); its account holds nothing, and
reaches each domain under a prefix of that domain's own. No list is written by hand; `thenga dev up`
and `thenga nats-config` both ask here.
"""

import json
from collections.abc import Mapping, Sequence

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.events.mesh import (
    WORKER,
    consumer_name,
    foreign_prefix,
    publishing_prefix,
    stream_name,
)
from thenga.kernel.events.subscriptions import by_source
from thenga.kernel.process import secret_settings

TOOLS = "tools"  # a login for `thenga doctor` and for measurements; it reaches no domain

Reads = Mapping[str, Sequence[str]]  # by domain: the domains whose streams it reads


def reads_of(domains: Sequence[Domain]) -> Reads:
    """What the manifests name; the domain itself is no foreign source."""
    return {domain.name: sorted(set(by_source(domain)) - {domain.name}) for domain in domains}


def config(reads: Reads, secret: str) -> str:
    """The `accounts` block of nats.conf; a source that does not stand yet has its account, too."""
    names = sorted({*reads, *(source for sources in reads.values() for source in sources)})
    made = [_domain_account(name, reads, secret) for name in names]
    made += [_worker_account(names, secret), _account(TOOLS, secret, {}, jetstream=True)]
    return "\n".join(["accounts {", *made, "}", ""])


def _domain_account(name: str, reads: Reads, secret: str) -> str:
    sources = reads.get(name, ())
    publish = [f"thenga.{name}.>", "$JS.API.>", "$JS.ACK.>"]
    publish += [f"{foreign_prefix(source)}.>" for source in sources]
    readers = sorted(reader for reader, named in reads.items() if name in named)
    shares = [(subject, reader) for reader in readers for subject in _shared(name, reader)]
    return _account(
        name,
        secret,
        {"publish": {"allow": publish}, "subscribe": {"allow": ["_INBOX.>"]}},
        exports=_exports([*shares, *((subject, WORKER) for subject in _shared_with_worker(name))]),
        imports=[
            _import(source, subject) for source in sources for subject in _shared(source, name)
        ],
        jetstream=True,
    )


def _worker_account(names: Sequence[str], secret: str) -> str:
    publish = ["$JS.ACK.>"]
    for name in names:
        publish += [f"{publishing_prefix(name)}.>", f"{foreign_prefix(name)}.>"]
    imports = [_import(name, subject) for name in names for subject in _shared_with_worker(name)]
    permissions = {"publish": {"allow": publish}, "subscribe": {"allow": ["_INBOX.>"]}}
    return _account(WORKER, secret, permissions, imports=imports)


def _account(
    name: str,
    secret: str,
    permissions: Mapping[str, object],
    *,
    exports: Sequence[object] = (),
    imports: Sequence[object] = (),
    jetstream: bool = False,
) -> str:
    password = secret_settings.password(secret, name)
    user = {"user": name, "password": password, "permissions": permissions}
    made = {"users": [user], "exports": exports, "imports": imports}
    lines = [f"    {key}: {json.dumps(value)}" for key, value in made.items()]
    lines += ["    jetstream: enabled"] * jetstream
    return "\n".join([f"  {name.upper()} {{", *lines, "  }"])


def _shared(source: str, reader: str) -> list[str]:
    """What a reader asks of a stream that is not its own: its consumer, and nothing else."""
    stream, consumer = stream_name(source), consumer_name(reader, source)
    return [f"$JS.API.STREAM.INFO.{stream}", *_consuming(stream, consumer)]


def _shared_with_worker(domain: str) -> list[str]:
    """What the relay and the consumers of a domain's stream ask of it; it cannot be deleted."""
    stream = stream_name(domain)
    verbs = ("STREAM.INFO", "STREAM.CREATE", "STREAM.UPDATE", "STREAM.MSG.GET", "CONSUMER.LIST")
    return [
        f"thenga.{domain}.>",
        *(f"$JS.API.{verb}.{stream}" for verb in verbs),
        *_consuming(stream, "*"),
    ]


def _consuming(stream: str, consumer: str) -> list[str]:
    verbs = ("CREATE", "INFO", "DELETE", "MSG.NEXT")
    return [
        *(f"$JS.API.CONSUMER.{verb}.{stream}.{consumer}" for verb in verbs),
        f"$JS.API.CONSUMER.CREATE.{stream}.{consumer}.>",
        f"$JS.ACK.{stream}.{consumer}.>",
    ]


def _exports(shares: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
    by_subject: dict[str, list[str]] = {}  # the accounts that may ask
    for subject, reader in shares:
        by_subject.setdefault(subject, []).append(reader.upper())
    made: list[dict[str, object]] = []
    for subject, accounts in by_subject.items():
        # A batch of messages is many answers to one question.
        several = {"response_type": "stream"} if ".MSG.NEXT." in subject else {}
        made.append({"service": subject, "accounts": accounts, **several})
    return made


def _import(source: str, subject: str) -> dict[str, object]:
    made: dict[str, object] = {"service": {"account": source.upper(), "subject": subject}}
    if subject.startswith("$JS.API."):
        made["to"] = f"{foreign_prefix(source)}.{subject.removeprefix('$JS.API.')}"
    elif subject.startswith("thenga."):
        # The whole subject stands behind the prefix, so no relay publishes for another domain.
        made["to"] = f"{publishing_prefix(source)}.{subject}"
    return made
