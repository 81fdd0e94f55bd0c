"""Events: told through the outbox, carried by JetStream, taken once through the inbox."""
