"""Providers of messages: SMTP, Twilio and Mailgun."""
