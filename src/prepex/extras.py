"""What is not installed by default, and how to get it."""

from importlib import import_module


def need(extra: str, who: str, *modules: str) -> None:
    """Refuse in one line what cannot be done without some modules; `who` needs them.

    >>> need("plot", "plots need", "json", "no_such_module")
    Traceback (most recent call last):
    ImportError: plots need an extra: pip install 'prepex[plot]'
    """
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            raise missing(extra, who) from None


def missing(extra: str, who: str) -> ImportError:
    """What to say where an import has failed."""
    return ImportError(f"{who} an extra: pip install 'prepex[{extra}]'")
