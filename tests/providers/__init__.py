"""Providers on loopback, each with its true protocol, for tests to misbehave with."""

# Test accounts, set for every run, so that callbacks can be verified anywhere.
SETTINGS = {
    "THENGA_PAYSTACK_SECRETS_BILLING": "sk_test_demo_0001,sk_test_demo_0000",
    "THENGA_PAYFAST_SECRETS_BILLING": "jt7NOE43FZPn",
    "THENGA_PAYFAST_MERCHANT_BILLING": "10000100",
    "THENGA_PAYFAST_MERCHANT_KEY_BILLING": "46f0cd694581a",
    "THENGA_STRIPE_SECRETS_BILLING": "whsec_test_secret",
    "THENGA_STRIPE_KEY_BILLING": "sk_test_stripe",
    "THENGA_TWILIO_TOKENS_NOTIFICATION": "twilio-auth-token,twilio-former-token",
    "THENGA_TWILIO_ACCOUNT_NOTIFICATION": "AC00000000000000000000000000000001",
    "THENGA_TWILIO_FROM_NOTIFICATION": "+27600000000",
    "THENGA_MAILGUN_KEYS_NOTIFICATION": "mailgun-signing-key",
    "THENGA_TWILIO_URL_NOTIFICATION": "http://127.0.0.1:9",
    # Nobody listens there: a test that starts no server of its own never calls a real one.
    **{
        f"THENGA_{name}_URL_BILLING": "http://127.0.0.1:9"
        for name in ("PAYSTACK", "PAYFAST", "PAYFAST_API", "STRIPE", "SANDBOX")
    },
}
