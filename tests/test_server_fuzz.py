"""Schemathesis over the whole interface: no 5xx, answers as documented, nothing of another study."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import checks
from test_server_roles import SECRET, SETTINGS, World

from prepex import Study
from prepex.server.access import ROLES

EXAMPLES = 24
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
NAMES = (
    "mine/status",
    "a/../b",
    "..",
    "%",
    "%2F",
    "a//b",
    "/",
    " ",
    "é",
    "\x00",
    "'; DROP TABLE prepex_events; --",
    "",
)
ALLOWED = {
    "observer": set(),
    "worker": {"asked", "told"},
    "owner": {"config", "asked", "told", "corrected", "voided"},
}
EXPECTED = {
    "observer": {200, 403, 404},
    "worker": {200, 400, 403, 404, 422},
    "owner": {200, 400, 403, 404, 422},
}
QUIET = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("role", ROLES)
def test_nothing_breaks_and_nothing_leaks(tmp_path, role):
    world = World(tmp_path)
    schema = schemathesis.openapi.from_asgi("/openapi.json", world.app)
    headers = {"Authorization": f"Bearer {world.few[role]}"}
    codes = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        if "mine" not in {entry.name for entry in Study.list(world.storage)}:
            world.study = Study.create(world.storage, "mine", **SETTINGS)
        tokens = [ticket.token for ticket in world.study.ask(4)]
        world.study.tell_many([(tokens[0], [1.0]), (tokens[1], [2.0])])
        codes |= attack(operation, headers, tokens)
    assert codes >= EXPECTED[role]
    assert [entry.events for entry in Study.list(world.storage) if SECRET in entry.name] == [4]
    kinds = {event.kind for event in Study.open(world.storage, "mine").events() if event.actor == f"{role} of mine"}
    assert kinds <= ALLOWED[role]
    assert Study.open(world.storage, "mine").verify().ok


def attack(operation, headers, tokens):
    """The status codes that came."""
    codes = set()
    modes = [operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]

    @QUIET
    @given(
        case=st.one_of(modes),
        name=st.sampled_from(["mine"] * 12 + [f"other {SECRET}"] * 4 + [*NAMES, None]),
        token=st.sampled_from([*tokens, None]),
        outcome=st.sampled_from([[1.0], {"gain": 2.0}, [1e300], None]),
    )
    def play(case, name, token, outcome):
        if name is not None and "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = name
        if token is not None and isinstance(case.body, dict) and "token" in case.body:
            case.body["token"] = token
        if outcome is not None and isinstance(case.body, dict) and "outcome" in case.body:
            case.body["outcome"] = outcome
        case.headers.pop("Authorization", None)
        response = case.call(headers=headers)
        codes.add(response.status_code)
        case.validate_response(response, checks=CHECKS if name in ("mine", f"other {SECRET}") else CHECKS[:1])
        assert SECRET not in response.content.decode("utf-8", "replace") + str(response.headers)

    play()
    return codes
