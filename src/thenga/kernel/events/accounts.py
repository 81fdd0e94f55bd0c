"""The accounts of NATS: one a domain, made from its manifest (SEC-63).

An account is a closed room: its login publishes on its own subjects into its own stream, and what
another domain tells comes only through the consumer that its reactions name. No list is written
by hand; `thenga dev up` and `thenga nats-config` both ask here.
"""

import json
from collections.abc import Mapping, Sequence

from thenga.kernel import secret_settings
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.events.mesh import consumer_name, foreign_prefix, stream_name
from thenga.kernel.events.subscriptions import by_source

TOOLS = "tools"  # a login for `thenga doctor` and for measurements; it reaches no domain

Reads = Mapping[str, Sequence[str]]  # by domain: the domains whose streams it reads


def reads_of(domains: Sequence[Domain]) -> Reads:
    """What the manifests name; the domain itself is no foreign source."""
    return {domain.name: sorted(set(by_source(domain)) - {domain.name}) for domain in domains}


def config(reads: Reads, secret: str) -> str:
    """The `accounts` block of nats.conf; a source that does not stand yet has its account, too."""
    names = sorted({*reads, *(source for sources in reads.values() for source in sources), TOOLS})
    blocks = "\n".join(_account(name, reads, secret) for name in names)
    return f"accounts {{\n{blocks}\n}}\n"


def _account(name: str, reads: Reads, secret: str) -> str:
    readers = sorted(reader for reader, sources in reads.items() if name in sources)
    exports = _exports(name, readers)
    imports = [one for source in reads.get(name, ()) for one in _imports(source, name)]
    allowed = [f"thenga.{name}.>", "$JS.API.>", "$JS.ACK.>"]
    allowed += [f"{foreign_prefix(source)}.>" for source in reads.get(name, ())]
    permissions = {"publish": {"allow": allowed}, "subscribe": {"allow": ["_INBOX.>"]}}
    if name == TOOLS:
        permissions = {}
    user = {
        "user": name,
        "password": secret_settings.password(secret, name),
        "permissions": permissions,
    }
    made = {"users": [user], "exports": exports, "imports": imports}
    lines = [f"    {key}: {json.dumps(value)}" for key, value in made.items()]
    return "\n".join([f"  {name.upper()} {{", "    jetstream: enabled", *lines, "  }"])


def _calls(source: str, reader: str) -> list[str]:
    """What a reader asks of a stream that is not its own: its consumer, and nothing else."""
    stream, consumer = stream_name(source), consumer_name(reader, source)
    verbs = ("CREATE", "INFO", "DELETE", "MSG.NEXT")
    return [
        f"STREAM.INFO.{stream}",
        *(f"CONSUMER.{verb}.{stream}.{consumer}" for verb in verbs),
        f"CONSUMER.CREATE.{stream}.{consumer}.>",
    ]


def _exports(source: str, readers: Sequence[str]) -> list[dict[str, object]]:
    shared: dict[str, list[str]] = {}  # by subject: the accounts that may ask
    for reader in readers:
        acknowledging = f"$JS.ACK.{stream_name(source)}.{consumer_name(reader, source)}.>"
        for subject in (acknowledging, *(f"$JS.API.{call}" for call in _calls(source, reader))):
            shared.setdefault(subject, []).append(reader.upper())
    made: list[dict[str, object]] = []
    for subject, accounts in shared.items():
        # A batch of messages is many answers to one question.
        several = {"response_type": "stream"} if ".MSG.NEXT." in subject else {}
        made.append({"service": subject, "accounts": accounts, **several})
    return made


def _imports(source: str, reader: str) -> list[dict[str, object]]:
    account, prefix = source.upper(), foreign_prefix(source)
    acknowledging = f"$JS.ACK.{stream_name(source)}.{consumer_name(reader, source)}.>"
    made: list[dict[str, object]] = [{"service": {"account": account, "subject": acknowledging}}]
    for call in _calls(source, reader):
        told = {"account": account, "subject": f"$JS.API.{call}"}
        made.append({"service": told, "to": f"{prefix}.{call}"})
    return made
