"""Studies, events, checkpoints."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "prepex_studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
    )
    study = sa.ForeignKey("prepex_studies.id", ondelete="CASCADE")
    op.create_table(
        "prepex_events",
        sa.Column("study", sa.Integer, study, primary_key=True),
        sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("pull", sa.BigInteger, nullable=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    op.create_index("prepex_events_of_pull", "prepex_events", ["study", "pull"])
    op.create_table(
        "prepex_checkpoints",
        sa.Column("study", sa.Integer, sa.ForeignKey("prepex_studies.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("saved", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("prepex_checkpoints", "prepex_events", "prepex_studies"):
        op.drop_table(name)
