"""Providers of Notification: SMTP, Twilio, Mailgun."""
