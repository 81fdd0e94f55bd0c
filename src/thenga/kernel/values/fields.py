"""The field types of the wire; plain `int` and `str` are refused by lint.

Used as `reason: Annotated[str, text(1, 500)]` or by name: `title: Name`. Each type tells its
rule in its JSON schema: by a `format` where there is one (dates, instants, decimals, addresses,
time zones), by a pattern where there is none, never by both. A format says less than we check: a
day lies between 1900 and 2200, a decimal has so many digits.

Text is trimmed, not refused, because people paste blanks and editors end notes with a newline.
Lengths count what was sent, blanks included, except that the least length must be left after
trimming. Text is put into NFC, so that equal words are equal bytes, unless that would take it
out of its bounds (some rare characters grow or shrink).
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import resources
from typing import Annotated, Any

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema
from typing_extensions import TypeAliasType

from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.money import CURRENCY_PATTERN
from thenga.kernel.values.phones import e164

# Patterns are read by ECMAScript, Python and Rust alike: only \uXXXX escapes, no \s and no \d,
# which mean different characters in each.
_BLANK = r" \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000"
_BLANKS = " \u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_BAD = r"\u0000-\u001F\u007F-\u009F\u2028\u2029"
_BAD_IN_LINES = r"\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029"


@dataclass(frozen=True, slots=True)
class Text:
    """Marks a string as safe: bounded, without control characters and half surrogates."""

    least: int
    most: int
    bad: str
    blank: str
    strips: str

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        bad, least, most, strips = re.compile(f"[{self.bad}]"), self.least, self.most, self.strips

        def settle(value: str) -> str:
            if bad.search(value):
                raise PydanticCustomError("control_character", "Remove the control characters")
            trimmed = value.strip(strips)
            if len(trimmed) < least:
                raise PydanticCustomError(
                    "string_too_short",
                    "Write at least {min_length} characters that are not blank at the ends",
                    {"min_length": least},
                )
            normal = unicodedata.normalize("NFC", trimmed)
            return normal if least <= len(normal) <= most else trimmed

        # A length bound makes pydantic look at the characters, which refuses half surrogates.
        inner = core_schema.str_schema(min_length=least or None, max_length=most, strict=True)
        return core_schema.no_info_after_validator_function(settle, inner)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "pattern": self._pattern()}

    def _pattern(self) -> str:
        safe, ink, blank = f"[^{self.bad}]", f"[^{self.bad}{self.blank}]", f"[{self.blank}]"
        if self.least == 0:
            return f"^{safe}*$"
        if self.least == 1:
            return f"^{safe}*{ink}{safe}*$"
        return f"^{blank}*{ink}{safe}{{{self.least - 2},}}{ink}{blank}*$"


def text(least: int, most: int) -> Text:
    """One line of text."""
    return Text(least, most, _BAD, _BLANK, _BLANKS)


def lines(least: int, most: int) -> Text:
    r"""Text of several lines: newline and tab are allowed, a carriage return is not."""
    return Text(least, most, _BAD_IN_LINES, _BLANK + r"\t\n", _BLANKS + "\t\n")


@dataclass(frozen=True, slots=True)
class Matching:
    """Marks a string of a known form: a code, a number on a certificate."""

    pattern: str
    most: int

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.str_schema(pattern=self.pattern, max_length=self.most, strict=True)


def matching(pattern: str, most: int) -> Matching:
    """A code of that form; the pattern is anchored at both ends and names what is allowed."""
    if not (pattern.startswith("^") and pattern.endswith("$")):
        raise ValueError("a pattern is anchored at both ends")
    return Matching(pattern, most)


@dataclass(frozen=True, slots=True)
class Whole:
    """Marks a bounded whole number, sent as a JSON number (no text, no true, 5.0 is 5)."""

    least: int
    most: int

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        inner = core_schema.int_schema(ge=self.least, le=self.most, strict=True)
        return core_schema.no_info_before_validator_function(_whole, inner)


def whole(least: int, most: int) -> Whole:
    return Whole(least, most)


def _whole(value: object) -> object:
    # JSON does not tell 5.0 from 5, and neither does JSON schema.
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, slots=True)
class Written:
    """Marks a value that travels as text of a known format and is something else inside."""

    format: str
    most: int
    read: Callable[[object], object]
    inner: Callable[[], core_schema.CoreSchema]
    write: Callable[[Decimal], str] | None = None

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        serialization = (
            core_schema.plain_serializer_function_ser_schema(self.write, when_used="json")
            if self.write
            else None
        )
        return core_schema.no_info_before_validator_function(
            self.read, self.inner(), serialization=serialization
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "format": self.format, "maxLength": self.most}


def decimal(whole_digits: int, places: int) -> Written:
    """A finite decimal from 0 up, as text: at most that many digits before and after the point."""
    return _decimal(_digits(whole_digits, places), whole_digits + places + 1)


def signed_decimal(whole_digits: int, places: int) -> Written:
    """A finite decimal as text, below zero too."""
    return _decimal("-?" + _digits(whole_digits, places), whole_digits + places + 2)


def _digits(whole_digits: int, places: int) -> str:
    return rf"(?:0|[1-9][0-9]{{0,{whole_digits - 1}}})(?:\.[0-9]{{1,{places}}})?"


def _decimal(form: str, most: int) -> Written:
    form_of_text = re.compile(form)

    def read(value: object) -> Decimal:
        if isinstance(value, Decimal) and value.is_finite():
            # A column of six places shows 2 as 2.000000; the zeros are not places.
            shown = format(value, "f")
            form_text = shown.rstrip("0").rstrip(".") if "." in shown else shown
        elif isinstance(value, str):
            shown = form_text = value
        else:
            shown = form_text = ""
        if not form_of_text.fullmatch(form_text):
            raise PydanticCustomError("decimal_text", "Write a decimal number in range, as text")
        return Decimal(shown) + 0  # no minus zero

    return Written("decimal", most, read, core_schema.decimal_schema, write=_plain)


def _plain(value: Decimal) -> str:
    return format(value, "f")  # str() would write 1E+2


# A calendar that exists, from 1900 to 2200, in one pattern: month and day, then leap days.
_MONTH_DAY = (
    "(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    "|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_LEAP = "(?:(?:19|21)(?:0[48]|[2468][048]|[13579][26])|20(?:[02468][048]|[13579][26]))-02-29"
_YEAR = "(?:19[0-9]{2}|2[01][0-9]{2}|2200)"
_INNER_YEAR = "(?:190[1-9]|19[1-9][0-9]|2[01][0-9]{2})"
_DAY = f"(?:{_YEAR}-{_MONTH_DAY}|{_LEAP})"
_TIME = r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_OFFSET = "[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]"
# An offset could carry the first and the last year over the edge, so it is not taken there.
_INSTANT = f"(?:{_DAY}{_TIME}Z|(?:{_INNER_YEAR}-{_MONTH_DAY}|{_LEAP}){_TIME}{_OFFSET})"
_DAY_TEXT = re.compile(_DAY)
_INSTANT_TEXT = re.compile(_INSTANT)
_FIRST_YEAR, _LAST_YEAR = 1900, 2200


def _read_day(value: object) -> date:
    if isinstance(value, str) and _DAY_TEXT.fullmatch(value):
        return date.fromisoformat(value)
    if type(value) is date and _FIRST_YEAR <= value.year <= _LAST_YEAR:
        return value
    raise PydanticCustomError("day", "Write a day from 1900 to 2200 as YYYY-MM-DD")


def _read_instant(value: object) -> datetime:
    if isinstance(value, str) and _INSTANT_TEXT.fullmatch(value):
        return datetime.fromisoformat(value).astimezone(UTC)
    if isinstance(value, datetime) and value.tzinfo is not None:
        instant = value.astimezone(UTC)
        if _FIRST_YEAR <= instant.year <= _LAST_YEAR:
            return instant
    raise PydanticCustomError("instant", "Write an instant like 2026-11-14T08:30:00Z, 1900 to 2200")


# ASCII only, and no doubled hyphens: those are encoded names of other scripts, which look alike.
# No question mark: with it a local part can be an encoded word (`=?utf-8?q?name?=`), which mail
# programs decode, so that a letter would go to another mailbox than the one kept (SEC-67).
_ATOM = r"[A-Za-z0-9!#$%&'*+/=^_`{|}~-]{1,64}"
_LABEL = "[A-Za-z0-9]{1,63}(?:-[A-Za-z0-9]{1,63})*"
_EMAIL = rf"{_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+[A-Za-z]{{2,63}}"
_EMAIL_TEXT = re.compile(_EMAIL)
_LONGEST_EMAIL = 254


@dataclass(frozen=True, slots=True)
class Address:
    """Marks an e-mail address; whether mail arrives there only a letter can tell."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        inner = core_schema.str_schema(max_length=_LONGEST_EMAIL, strict=True)
        return core_schema.no_info_after_validator_function(_read_email, inner)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "format": "email"}


def _read_email(value: str) -> str:
    try:
        if not _EMAIL_TEXT.fullmatch(value):
            raise EmailNotValidError
        # `test_environment` only lets names under .test pass: nobody can own one, and our tests
        # and the API's examples must write to an address that is surely nobody's.
        checked = validate_email(value, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        raise PydanticCustomError("email", "Write an address like name@company.co.za") from None
    return checked.normalized


@dataclass(frozen=True, slots=True)
class Zone:
    """Marks the name of a time zone that the bundled database knows."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.literal_schema([*ZONES])

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {
            "type": "string",
            "format": "time-zone",
            "maxLength": 64,
            "description": "IANA time zone.",
            "examples": ["Africa/Johannesburg"],
        }


def by_rule(check: Callable[[Any], Any]) -> AfterValidator:
    """Checks what no schema can express. If `check` raises `RuleViolated`, the field is named."""

    def judge(value: Any) -> Any:
        try:
            return check(value)
        except RuleViolated as broken:
            told = {"detail": broken.detail, "rule": broken.facts["rule"]}
            raise PydanticCustomError("rule", "{detail}", told) from None

    return AfterValidator(judge)


ZONES = resources.files("tzdata").joinpath("zones").read_text(encoding="ascii").split()

Name = Annotated[str, text(1, 200)]
Note = Annotated[str, lines(1, 4000)]
Email = Annotated[str, Address()]
PhoneNumber = Annotated[str, text(4, 30), by_rule(e164)]
CurrencyCode = Annotated[str, matching(CURRENCY_PATTERN, 3)]
# Named, so that the API document tells of zones once.
TimeZoneName = TypeAliasType("TimeZoneName", Annotated[str, Zone()])

Count = Annotated[int, whole(0, 2**31 - 1)]
SmallInt = Annotated[int, whole(-(2**15), 2**15 - 1)]
# The integers that JavaScript and RFC 8785 keep exactly; a bigint column holds them with ease.
BigInt = Annotated[int, whole(-(2**53) + 1, 2**53 - 1)]

FiniteDecimal = Annotated[Decimal, signed_decimal(14, 6)]
Percent = Annotated[Decimal, _decimal(r"(?:100(?:\.0{1,2})?|[1-9]?[0-9](?:\.[0-9]{1,2})?)", 6)]

Day = Annotated[date, Written("date", 10, _read_day, core_schema.date_schema)]
Instant = Annotated[datetime, Written("date-time", 32, _read_instant, core_schema.datetime_schema)]

MARKERS = (Text, Matching, Whole, Written, Address, Zone)
