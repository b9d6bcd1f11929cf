"""The tables of a storage."""

from prepex.extras import missing

try:
    import sqlalchemy as sa
    from sqlalchemy.engine import Connection
except ImportError:
    raise missing("study", "studies need") from None

__all__ = ["Connection", "checkpoints", "events", "metadata", "sa", "studies"]

metadata = sa.MetaData()
studies = sa.Table(
    "prepex_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text),
    sa.Column("position", sa.BigInteger),
    sa.Column("head", sa.Text),
)
events = sa.Table(
    "prepex_events",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True),
    sa.Column("pull", sa.BigInteger),
    sa.Column("text", sa.Text),
    sa.Column("hash", sa.Text),
)
checkpoints = sa.Table(
    "prepex_checkpoints",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("position", sa.BigInteger),
    sa.Column("head", sa.Text),
    sa.Column("digest", sa.Text),
    sa.Column("saved", sa.LargeBinary),
)
