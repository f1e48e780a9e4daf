"""Runs the migrations on the connection that ``Catalog.migrate`` hands over, inside its transaction."""

from alembic import context

from services.shared.catalog.measuring import golden

# One transaction for all: whoever waits for it finds the tables finished or none at all.
# The metadata by a table of the last module: it knows them all.
context.configure(
    connection=context.config.attributes["connection"], target_metadata=golden.metadata, transactional_ddl=True
)
context.run_migrations()
