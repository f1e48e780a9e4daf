"""Runs the migrations on the connection that ``Catalog.migrate`` hands over, inside its transaction."""

from alembic import context

from services.shared.catalog.schema import tables

# One transaction for all: whoever waits for it finds the tables finished or none at all.
context.configure(connection=context.config.attributes["connection"], target_metadata=tables, transactional_ddl=True)
context.run_migrations()
