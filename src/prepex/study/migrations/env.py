"""How alembic runs the steps: on the connection that the storage hands it, inside its transaction."""

from alembic import context

from prepex.study.storage import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
