"""What Notification reads from the environment: its mail server, its providers, its sender."""

import re

from thenga.kernel.declare.variable import Variable

_RESERVED = r"(\.example|\.invalid|\.test|\.localhost|\.example\.(com|net|org|co\.za|za))$"


def _sender_fault(address: str) -> str | None:
    """Mail from a domain that is not ours is refused or lost, and so are its bounces."""
    name, _, host = address.rpartition("@")
    if not (name and "." in host):
        return "must be the address that letters come from"
    if re.search(_RESERVED, f".{host.lower()}"):
        return "is an address of an example domain"
    return None


ENVIRONMENT = (
    Variable("sender_address", "Address that letters come from.", fault=_sender_fault),
    Variable("smtp_user", "Login at the mail server."),
    Variable("smtp_password", "Password at the mail server.", is_secret=True),
    Variable("smtp_ca", "File with the authority of the mail server's certificate, if private."),
    Variable("smtp_host", "Mail server, in place of `THENGA_SMTP_HOST`."),
    Variable("smtp_port", "Its port, in place of `THENGA_SMTP_PORT`."),
    Variable("mailgun_keys", "Signing keys of Mailgun's reports, current first.", is_secret=True),
    Variable("twilio_account", "Account of Twilio, for text messages."),
    Variable("twilio_tokens", "Tokens of Twilio, the current first.", is_secret=True),
    Variable("twilio_from", "Number that text messages come from."),
    Variable("twilio_url", "Address of Twilio. Empty means its own."),
)
