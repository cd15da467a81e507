"""A server on loopback with Qdrant's REST interface, over Qdrant's local mode; it misbehaves as planned.

Requests are read by the models that the client has of Qdrant's OpenAPI description, and answers are written by them,
so a request that these do not allow is refused. What a server does beyond its answers, such as its graphs of
neighbours and its disk, is not here.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import pytest
from pydantic import TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

KEY = "a-key-of-the-tests"
_PUT: Any = TypeAdapter(models.PointInsertOperations)


def _read(model: Any, body: bytes) -> Any:
    adapter = model if isinstance(model, TypeAdapter) else TypeAdapter(model)
    return adapter.validate_json(body)


class QdrantServer:
    """Answers as a Qdrant server does, with one lock for all requests.

    Attributes:
        seen: (method, path, body) of each request.
        plan: Answers of the next requests, in order: (status, body, headers), or None for its own.
        keeps_metadata: Whether it is of a version that does.
    """

    def __init__(self, key: str | None = KEY) -> None:
        self.key, self.keeps_metadata = key, True
        self.seen: list[tuple[str, str, Any]] = []
        self.plan: list[tuple[int, bytes, dict[str, str]] | None] = []
        self.client = QdrantClient(":memory:", force_disable_check_same_thread=True)
        lock, fake = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with lock:
                    place = urlsplit(self.path).path
                    fake.seen.append((self.command, place, json.loads(body) if body else None))
                    planned = fake.plan.pop(0) if fake.plan else None
                    status, data, headers = planned or fake.respond(
                        self.command, place, body, self.headers.get("api-key")
                    )
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def respond(self, method: str, place: str, body: bytes, key: str | None) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers."""
        if self.key is not None and key != self.key:
            # As Qdrant words it; a server that says the key back must not get it into a message.
            return self.fault(401, f"Must provide an API key or an Authorization bearer token, not {key}")
        try:
            result = self.result(method, place, body)
        except ValidationError as error:
            return self.fault(400, f"Format error in JSON body: {error}")
        except ValueError as error:
            return self.fault(404 if "not found" in str(error) else 400, str(error))
        if place == "/":
            return 200, TypeAdapter(type(result)).dump_json(result), {}
        shown = TypeAdapter(Any).dump_json(result).decode()
        return 200, f'{{"result": {shown}, "status": "ok", "time": 0.001}}'.encode(), {}

    def fault(self, status: int, error: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
        """Return an answer with a fault."""
        shown = {"status": {"error": error}, "time": 0.0}
        return status, json.dumps(shown).encode(), {name.replace("_", "-"): value for name, value in headers.items()}

    def result(self, method: str, place: str, body: bytes) -> Any:
        """Do what a request asks for."""
        fixed: dict[tuple[str, str], Callable[[], Any]] = {
            ("GET", "/"): self.client.info,
            ("GET", "/collections"): self.client.get_collections,
            ("GET", "/aliases"): self.client.get_aliases,
            ("POST", "/collections/aliases"): lambda: self.client.update_collection_aliases(
                _read(models.ChangeAliasesOperation, body).actions
            ),
        }
        if (method, place) in fixed:
            return fixed[method, place]()
        found = re.fullmatch(r"/collections/([^/]+)((?:/[a-z/]+)?)", place)
        if found is None:
            raise ValueError(f"{place} not found")
        name = unquote(found[1])
        if found[2] and not self.client.collection_exists(name):
            raise ValueError(f"Collection `{name}` not found")
        return getattr(self, f"{method.lower()}{found[2].replace('/', '_')}")(name, body)

    def get(self, name: str, body: bytes) -> Any:
        return self.client.get_collection(name)

    def get_exists(self, name: str, body: bytes) -> Any:
        return models.CollectionExistence(exists=True)

    def put(self, name: str, body: bytes) -> Any:
        asked = _read(models.CreateCollection, body)
        metadata = asked.metadata if self.keeps_metadata else None
        return self.client.create_collection(name, vectors_config=asked.vectors, metadata=metadata)

    def patch(self, name: str, body: bytes) -> Any:
        return self.client.update_collection(name, metadata=_read(models.UpdateCollection, body).metadata)

    def delete(self, name: str, body: bytes) -> Any:
        return self.client.delete_collection(name)

    def put_index(self, name: str, body: bytes) -> Any:
        asked = _read(models.CreateFieldIndex, body)
        assert asked.field_schema == models.PayloadSchemaType.KEYWORD
        return models.UpdateResult(operation_id=1, status=models.UpdateStatus.COMPLETED)

    def put_points(self, name: str, body: bytes) -> Any:
        return self.client.upsert(name, _read(_PUT, body).points)

    def post_points(self, name: str, body: bytes) -> Any:
        asked = _read(models.PointRequest, body)
        return self.client.retrieve(name, asked.ids, with_payload=asked.with_payload, with_vectors=asked.with_vector)

    def post_points_scroll(self, name: str, body: bytes) -> Any:
        asked = _read(models.ScrollRequest, body)
        points, offset = self.client.scroll(
            name,
            limit=asked.limit or 10,
            offset=asked.offset,
            with_payload=asked.with_payload,
            with_vectors=asked.with_vector,
        )
        return models.ScrollResult(points=points, next_page_offset=offset)

    def post_points_count(self, name: str, body: bytes) -> Any:
        return self.client.count(name, exact=_read(models.CountRequest, body).exact)

    def post_points_delete(self, name: str, body: bytes) -> Any:
        return self.client.delete(name, _read(models.PointIdsList, body))

    def post_points_query_batch(self, name: str, body: bytes) -> Any:
        asked = _read(models.QueryRequestBatch, body).searches
        return self.client.query_batch_points(name, [one.model_copy(update={"params": None}) for one in asked])

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.client.close()


@pytest.fixture
def qdrant() -> Iterator[QdrantServer]:
    """Start a server that wants ``KEY``."""
    with QdrantServer() as server:
        yield server


@pytest.fixture(autouse=True)
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow folders of the local mode, and a class beside a recipe, as a user does."""
    monkeypatch.setenv("SRTK_TRUST", "qdrant-folder")
