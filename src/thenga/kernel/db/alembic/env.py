"""Alembic's entry: one domain at a time, as the owner of its schema."""

from alembic import context

connection = context.config.attributes["connection"]
domain = context.config.attributes["domain"]

context.configure(connection=connection, version_table="migration", version_table_schema=domain)
with context.begin_transaction():
    context.run_migrations()
