"""The OpenAPI description, fuzzed: no answer is a server error, and answers are as described."""

import os
from dataclasses import replace

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from egoequiv.serving.limits import Limits
from egoequiv.store import FrameStore
from serving.known import known_service, running

EXAMPLES = int(os.environ.get("EGOEQUIV_SCHEMA_EXAMPLES", "15"))  # of each operation and mode
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.mark.slow
@pytest.mark.parametrize("mode", [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE])
def test_answers_are_as_described(small_store: FrameStore, mode: schemathesis.GenerationMode) -> None:
    quick = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    tried = []
    with running(known_service(small_store, replace(Limits(), body_bytes=100_000))) as (address, _):
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
        for found in schema.get_all_operations():
            operation = found.ok()

            @quick
            @given(case=operation.as_strategy(generation_mode=mode))
            def answer(case: schemathesis.Case) -> None:
                case.call_and_validate(checks=CHECKS)

            try:
                answer()
            except Unsatisfiable:  # what takes nothing cannot be given anything wrong
                assert mode == schemathesis.GenerationMode.NEGATIVE
                continue
            tried.append(operation.label)
    assert "POST /v1/nearest" in tried
    assert len(tried) >= (17 if mode == schemathesis.GenerationMode.POSITIVE else 10)
