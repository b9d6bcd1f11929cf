"""A worker process of the study tests: `python study_worker.py URL NAME PULLS` asks and tells, and says what was taken.

A line is printed only after the call has returned: from then on the outcome must never be lost.
"""

import sys

from prepex import Study


def outcome(token):
    """A value that the parent can compute as well."""
    return [float(int(token.partition("-")[2], 16) % 1000) / 100, 1.0]


if __name__ == "__main__":
    url, name, pulls = sys.argv[1], sys.argv[2], int(sys.argv[3])
    study = Study.open(url, name)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for _ in range(pulls):
        ticket = study.ask(actor="worker")
        receipt = study.tell(ticket.token, outcome(ticket.token), actor="worker")
        assert receipt.new
        sys.stdout.write(ticket.token + "\n")
        sys.stdout.flush()
