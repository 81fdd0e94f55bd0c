"""What stands between a pack and its seal, as one pure function of the facts (BID-42)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thenga.domains.bid.values.findings import Class, Finding

# Blocking findings that nobody can override, with what helps.
FIXED = {
    "closing_passed": "A pack cannot be sealed after the closing date.",
    "tender_not_open": "Bids are accepted only while the tender is open.",
    "amendment_unconfirmed": "Reconfirm the bid after the amendment.",
    "price_not_approved": "Get the price approved.",
    "file_not_clean": "Wait for the scan and assemble the pack again, or remove the file.",
    "file_changed": "Assemble the pack again.",
    "price_mismatch": "Confirm the price in the forms again.",
    "arithmetic_error": "Correct the price.",
    "declaration_contradiction": "Correct the declaration or the profile.",
}
OVERRIDABLE = {
    "mandatory_gap": "Answer the requirement, or justify why it does not apply.",
    "form_missing": "Complete the form.",
    "form_unsigned": "Sign the form.",
    "form_outdated": "Reopen the form and complete it again.",
    "section_unapproved": "Get the section approved.",
    "evidence_invalid_at_closing": "Renew the evidence.",
    "compulsory_briefing_missed": "Ask the buyer whether the bid is still accepted.",
    "price_in_technical_envelope": "Move the file to the financial envelope.",
    "size_or_page_limit": "Remove files or make them smaller.",
}
HIGH_RISK = {
    "readiness_unknown": "Check the readiness of the company.",
    "esignature_unknown": "Ask the buyer whether electronic signatures are accepted.",
    "ink_unverified": "Ask someone else to verify the scan.",
    "goal_without_proof": "Name the proof for the goal. Without proof, its points are lost.",
    "non_vendor_over_limit": "Decide whether to register for VAT.",
    "margin_low": "Check the margin.",
    "cash_picture_missing": "Enter the cash terms.",
    "flag_unknown": "Ask the director and update the profile.",
    "blocking_comment_open": "Resolve the blocking comments.",
    "provisional_sum_altered": "Use the sum in the buyer's bill of quantities.",
    "conditional_discount": "Do not rely on a conditional discount.",
}
WARNINGS = {
    "evidence_ends_before_validity": "Renew the evidence before the offer expires.",
    "edition_superseded": "Ask the buyer which edition is accepted.",
    "copies_missing": "Prepare the copies, then tick off `copies` in the checklist.",
    "not_merged": "Submit the files one by one.",
}


@dataclass(frozen=True, slots=True)
class Found:
    """Something that is the case: the code, its subject and a sentence."""

    code: str
    subject: str
    text: str


def lay_out(found: Sequence[Found]) -> list[Finding]:
    """Every check once: what was found with its remedy, and the rest as passed."""
    findings = [_finding(one) for one in sorted(found, key=lambda one: (one.code, one.subject))]
    return [*findings, *_passed({one.code for one in found})]


def _finding(one: Found) -> Finding:
    severity, remedy = _class_of(one.code)
    return Finding(
        code=one.code,
        severity=severity,
        subject=one.subject,
        text=one.text,
        remedy=remedy,
        overridable=one.code in OVERRIDABLE,
    )


def _class_of(code: str) -> tuple[Class, str]:
    for names, severity in (
        (FIXED, Class.BLOCKING),
        (OVERRIDABLE, Class.BLOCKING),
        (HIGH_RISK, Class.HIGH_RISK),
        (WARNINGS, Class.WARNING),
    ):
        if code in names:
            return severity, names[code]
    raise LookupError(f"{code} is no finding of a pack")


def _passed(found: set[str]) -> Iterator[Finding]:
    for code in (*FIXED, *OVERRIDABLE, *HIGH_RISK, *WARNINGS):
        if code not in found:
            yield Finding(
                code=code,
                severity=Class.PASSED,
                subject="pack",
                text=f"{code.replace('_', ' ').capitalize()}: no problem found.",
                remedy="",
            )
