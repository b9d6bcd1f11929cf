"""Studies over HTTP: `prepex serve`.

app         everything together
gate        what a request must pass first: guard (other web sites), access (tokens and roles), limits (rate and size)
api         the endpoints;  bodies: the forms of requests and answers;  errors: what is said when it fails
studies     the open studies, and whose they are
downloads   files, piece by piece
reference   the page /docs
pages       the dashboard's files, in static;  view: what it draws
"""
