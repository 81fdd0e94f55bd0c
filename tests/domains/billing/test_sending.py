"""Every text that a sent field accepts is sent, to the address as it is kept (SEC-67)."""

import random
from typing import Any
from uuid import uuid4

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.domains.billing.test_printable import NAMES, block_text
from tests.letters import Letters
from thenga.domains.billing.adapters import mail as billing_mail
from thenga.domains.identity.adapters import mail as identity_mail
from thenga.domains.notification.public import Recipient
from thenga.kernel.host import Host
from thenga.kernel.starting import make_host
from thenga.kernel.values.fields import Email

pytestmark = pytest.mark.rule("SEC-67")

FACTS = ("name", "plan", "amount", "standing", "next")
HOSTILE = (
    "a\r\n.\r\nRCPT TO:<stranger@elsewhere.co.za>\r\n",
    "x\nBcc: stranger@elsewhere.co.za\n\n",
    "From me",
    "." * 3000,
    "y" * 5000,
    "\u2028\u0085\u000b\ufeff\u202e",
)
ENCODED = (
    "=?utf-8?q?stranger?=@elsewhere.co.za",
    "=?utf-8?b?c3RyYW5nZXI=?=@elsewhere.co.za",
    "=?utf-8?q?stranger=40elsewhere=2Eco=2Eza=2C?=@x.co.za",
)
ADDRESSES = (
    "o'brien+x@x.co.za",
    "-a@x.co.za",
    "a!b@x.co.za",
    "a%b@x.co.za",
    "A.{}|~@x.co.za",
)


async def send(host: Host, module: Any, letters: Letters, address: str, words: str) -> None:
    settings = host.settings.model_copy(update={"smtp_port": letters.port})
    sending = make_host(settings)
    topic = "billing.payment_failed" if module is billing_mail else "identity.already_registered"
    await module.MailRequests(sending).accept(
        topic_code=topic,
        recipients=[Recipient(user_id=uuid4(), address=address)],
        facts=dict.fromkeys(FACTS, words),
        sealed_facts={},
        key="key",
    )
    await sending.close()


async def test_every_text_is_sent_and_arrives_as_it_was_written(host: Host):
    source = random.Random(67)
    texts = [*NAMES, *HOSTILE, *(block_text(source, 200) for _ in range(60))]

    with Letters() as letters:
        for number, words in enumerate(texts):
            await send(host, billing_mail, letters, f"payer{number}@x.co.za", words)
        arrived = [await letters.to(f"payer{number}@x.co.za") for number in range(len(texts))]

    wrong = [
        words
        for words, letter in zip(texts, arrived, strict=True)
        if plain(words) not in plain(letter)
    ]
    print(f"texts={len(texts)} failures=0 changed={len(wrong)} recipients={len(arrived)}")
    assert wrong == []
    assert letters.addresses() == {f"payer{number}@x.co.za" for number in range(len(texts))}


def plain(words: str) -> str:
    """Line ends are the transport's own."""
    return "\n".join(words.splitlines())


@pytest.mark.parametrize("module", [billing_mail, identity_mail])
async def test_a_letter_goes_to_the_address_that_is_kept(module: Any, host: Host):
    accepted = [one for one in (*ADDRESSES, *ENCODED) if is_accepted(one)]

    with Letters() as letters:
        for address in accepted:
            await send(host, module, letters, address, "Mokoena")

    elsewhere = letters.addresses() - set(accepted)
    print(f"addresses={len(accepted)} elsewhere={len(elsewhere)}")
    assert elsewhere == set()
    assert accepted == list(ADDRESSES)


def is_accepted(address: str) -> bool:
    try:
        return TypeAdapter(Email).validate_python(address) == address
    except ValidationError:
        return False
