"""Against other web sites: who may speak to the server through a visitor's browser, and what its pages may load."""

import ipaddress

from starlette.datastructures import Headers

# Nothing from elsewhere is loaded, so the dashboard works offline and leaks nothing.
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_foreign(headers: Headers, *, api: bool, tokens: bool) -> bool:
    """Does a request come from another web site's page, or under another name (DNS rebinding)?

    Without tokens the server is for this machine, so its name must be one of this machine's.

    >>> local = {"host": "127.0.0.1:8000"}
    >>> is_foreign(Headers(local), api=True, tokens=False)
    False
    >>> is_foreign(Headers({**local, "origin": "http://evil.example"}), api=True, tokens=False)
    True
    >>> is_foreign(Headers({"host": "evil.example"}), api=True, tokens=False)
    True
    """
    host, origin = headers.get("host", "").lower(), headers.get("origin")
    if not tokens and not is_loopback(_without_port(host)):
        return True
    if origin is not None and origin.lower().partition("://")[2] != host:
        return True
    # Browsers say so even where they send no origin. A link from elsewhere to the dashboard is welcome.
    return api and headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def is_loopback(host: str) -> bool:
    """Is it this machine?

    >>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
