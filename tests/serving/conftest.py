"""A service of the small store, for all tests that do not change it."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from egoequiv.serving.service import Service
from egoequiv.store import FrameStore
from serving.known import client_of, known_service


@pytest.fixture(scope="module")
def service(small_store: FrameStore) -> Service:
    return known_service(small_store)


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    with client_of(service) as opened:
        yield opened
