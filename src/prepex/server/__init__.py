"""Studies over HTTP: `prepex serve`.

app         everything together
wire        connections: slow ones, and too many
gate        what a request must pass first: guard (other web sites), access (tokens and roles), limits (rate and size)
api         the endpoints;  bodies: the forms of requests and answers;  errors: what is said when it fails
lanes       threads for readers, threads for writers
studies     the studies, and whose they are;  served: one of them, with its last answers
crew        who computes: worker processes that can be stopped;  tasks: what they do
looks       a study under another cone, and the dialogue that finds one
feed        what has changed, for the pages that are open
downloads   files, piece by piece
reference   the page /docs
pages       the dashboard's files, in static;  view: what it draws
"""
