"""What Billing reads from the environment: keys and addresses of its payment providers."""

from thenga.kernel.declare.variable import Variable

ENVIRONMENT = (
    Variable("paystack_secrets", "Secret keys of Paystack, the current first.", is_secret=True),
    Variable("paystack_url", "Address of Paystack. Empty means its own."),
    Variable("payfast_secrets", "Passphrases of PayFast, the current first.", is_secret=True),
    Variable("payfast_merchant", "Merchant id of PayFast."),
    Variable("payfast_merchant_key", "Merchant key of PayFast."),
    Variable("payfast_senders", "Hosts whose callbacks are PayFast's, comma separated."),
    Variable("payfast_url", "Address of PayFast's payment page. Empty means its own."),
    Variable("payfast_api_url", "Address of PayFast's API. Empty means its own."),
    Variable("stripe_key", "Secret key of Stripe.", is_secret=True),
    Variable("stripe_secrets", "Signing secrets of Stripe's callbacks.", is_secret=True),
    Variable("stripe_url", "Address of Stripe. Empty means its own."),
    Variable("sandbox_url", "Address of `thenga sandbox`, which takes payments of sandboxes."),
)
