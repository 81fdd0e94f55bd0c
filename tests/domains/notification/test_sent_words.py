"""Every text that a sent field accepts is sent, to the address as it is kept (SEC-67)."""

import random
from uuid import uuid4

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.domains.billing.test_printable import NAMES, block_text
from tests.letters import Letters, written

from thenga.domains.notification.adapters.smtp import Smtp, SmtpSettings
from thenga.domains.notification.public import as_fact
from thenga.domains.notification.values.messages import Message
from thenga.kernel.values.fields import Email

pytestmark = pytest.mark.rule("SEC-67")

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


async def send(letters: Letters, address: str, words: str) -> None:
    letter = written("identity.already_registered", {"name": as_fact(words)}, is_proven=True)
    message = Message(
        to=address,
        subject=letter.subject,
        text=letter.text,
        html=letter.html,
        message_id=f"{uuid4()}@thenga.example",
        sender_name="Thenga",
        sender_address="no-reply@thenga.example",
        callback_url="",
    )
    relay = SmtpSettings(host="127.0.0.1", port=letters.port, is_plain=True)
    answer = await Smtp(relay).send(message)
    assert answer.outcome == "accepted", answer


async def test_every_text_is_sent_and_arrives_as_it_was_written():
    source = random.Random(67)
    texts = [*NAMES, *HOSTILE, *(block_text(source, 200) for _ in range(60))]

    with Letters() as letters:
        for number, words in enumerate(texts):
            await send(letters, f"payer{number}@x.co.za", words)
        arrived = [await letters.to(f"payer{number}@x.co.za") for number in range(len(texts))]

    wrong = [
        words
        for words, letter in zip(texts, arrived, strict=True)
        if as_fact(words).strip() not in letter
    ]
    print(f"texts={len(texts)} failures=0 changed={len(wrong)} recipients={len(arrived)}")
    assert wrong == []
    assert letters.addresses() == {f"payer{number}@x.co.za" for number in range(len(texts))}


async def test_a_letter_goes_to_the_address_that_is_kept():
    accepted = [one for one in (*ADDRESSES, *ENCODED) if is_accepted(one)]

    with Letters() as letters:
        for address in accepted:
            await send(letters, address, "Mokoena")

    elsewhere = letters.addresses() - set(accepted)
    print(f"addresses={len(accepted)} elsewhere={len(elsewhere)}")
    assert elsewhere == set()
    assert accepted == list(ADDRESSES)


def is_accepted(address: str) -> bool:
    try:
        return TypeAdapter(Email).validate_python(address) == address
    except ValidationError:
        return False
