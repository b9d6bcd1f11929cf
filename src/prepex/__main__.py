"""`python -m prepex`."""

from prepex.cli import app

app()
