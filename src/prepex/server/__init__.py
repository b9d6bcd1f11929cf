"""Studies over HTTP: `prepex serve`.

app       the endpoints and the dashboard
access    bearer tokens with roles
limits    size and rate of requests
"""
