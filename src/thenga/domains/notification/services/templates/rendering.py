"""From a content and checked facts to what one person receives on one channel."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thenga.domains.notification.services.templates import language
from thenga.domains.notification.services.templates.contents import FALLBACK, Content, Texts
from thenga.domains.notification.services.templates.topic_catalogue import ChannelKind
from thenga.domains.notification.services.templates.variables import (
    HIDDEN,
    Locale,
    Variable,
    shown,
)

_HTML = '<!doctype html><html lang="{lang}"><body>{preheader}{body}</body></html>'
_PREHEADER = '<div style="display:none">{text}</div>'
_BREAKS_HEADER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class HeaderRefused(ValueError):
    """A header value has a line break or another control character."""


def header_value(text: str) -> str:
    """The text as the value of a mail header; the mail library encodes it (NOT-26).

    The library would decode `=?utf-8?q?=0d=0a…?=` and write the line break, so such a word is
    split before.
    """
    if _BREAKS_HEADER.search(text):
        raise HeaderRefused("a header value has no control characters")
    return text.replace("=?", "= ?")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message: one line, its text, and its HTML where the channel has one."""

    language: str
    subject: str
    text: str
    html: str | None

    @property
    def content_hash(self) -> str:
        """Proves later which text was used; taken from the form without secrets."""
        return hashlib.sha256(f"{self.subject}\n\n{self.text}".encode()).hexdigest()


def choose_language(content: Content, channel: ChannelKind, wished: Sequence[str | None]) -> str:
    """The first wished language that has a text for this channel (NOT-24)."""
    for one in (*wished, FALLBACK):
        texts = content.texts.get(one) if one else None
        if texts is not None and getattr(texts, channel) is not None:
            return one or FALLBACK
    raise LookupError(f"no text for {channel}: a content is checked before it is approved")


def render(
    content: Content, channel: ChannelKind, facts: Mapping[str, str], locale: Locale
) -> Rendered:
    """The message with all its facts, secret ones included. Only for sending."""
    return _rendered(content, channel, facts, locale, hide=False)


def render_for_history(
    content: Content, channel: ChannelKind, facts: Mapping[str, str], locale: Locale
) -> Rendered:
    """The message as it is kept: secret facts are hidden (NOT-27)."""
    return _rendered(content, channel, facts, locale, hide=True)


def _rendered(
    content: Content,
    channel: ChannelKind,
    facts: Mapping[str, str],
    locale: Locale,
    *,
    hide: bool,
) -> Rendered:
    texts = content.texts[locale.language]
    values = {one.name: _value(one, facts, locale, hide=hide) for one in content.variables}
    subject, text, html = _parts(texts, channel, values, locale.language)
    return Rendered(locale.language, subject, text, html)


def _value(variable: Variable, facts: Mapping[str, str], locale: Locale, *, hide: bool) -> str:
    if hide and variable.secret:
        return HIDDEN
    given = facts.get(variable.name, variable.default)
    return shown(variable, given, locale) if given else ""


def _parts(
    texts: Texts, channel: ChannelKind, values: Mapping[str, str], tag: str
) -> tuple[str, str, str | None]:
    if channel == "sms" and texts.sms is not None:
        return "", language.fill(texts.sms.body, values), None
    if channel == "in_app" and texts.in_app is not None:
        title = language.fill(texts.in_app.title, values)
        return title, language.to_text(texts.in_app.body, values), None
    if channel == "email" and texts.email is not None:
        mail = texts.email
        html = _HTML.format(
            lang=tag,
            preheader=_PREHEADER.format(text=language.to_html(mail.preheader, values))
            if mail.preheader
            else "",
            body=language.to_html(mail.body, values),
        )
        subject = header_value(language.fill(mail.subject, values))
        return subject, language.to_text(mail.body, values), html
    raise LookupError(f"{tag} has no text for {channel}")
