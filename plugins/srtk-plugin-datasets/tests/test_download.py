"""Fetching published files from a server on loopback that sends them whole, cut, changed, or not at all."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from srtk_plugin_datasets import catalogue as catalogue_module
from srtk_plugin_datasets.catalogue import DataFile, DataSet
from srtk_plugin_datasets.download import download
from srtk_plugin_web import DeniedError, Limits, RequestError

from srtk_framework.cli import main
from srtk_framework.values import InputError, RunError

QUICK = Limits(wait=0.01, wait_most=0.02, deadline=2.0, attempts=2, patience=5.0)
PAGES = {"/kb.txt": b"a|r|b\n" * 1000, "/deep/qa.txt": b"a question\tan answer\n"}


class Server:
    """Files on loopback; a path may be made to be cut, moved, or changed."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cut: set[str] = set()
        self.moved: dict[str, str] = {}
        self.pages = dict(PAGES)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                if self.path in outer.moved:
                    self.send_response(302)
                    self.send_header("Location", outer.moved[self.path])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                body = outer.pages.get(self.path)
                self.send_response(404 if body is None else 200)
                content = body or b"there is no such page"
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if self.path in outer.cut else content)
                self.close_connection = self.path in outer.cut

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def files(self) -> list[DataFile]:
        return [
            DataFile(path[1:], self.url + path, f"sha256:{hashlib.sha256(content).hexdigest()}")
            for path, content in PAGES.items()
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def fetched(server: Server, folder: Path) -> tuple[int, int]:
    return download(server.files(), folder, lambda line: None, QUICK)


def there(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_fetched_into_their_places(server: Server, tmp_path: Path) -> None:
    lines: list[str] = []
    assert download(server.files(), tmp_path / "set", lines.append, QUICK) == (2, 0)
    assert there(tmp_path / "set") == {path[1:]: content for path, content in PAGES.items()}
    assert lines == [f"{tmp_path / 'set' / 'kb.txt'}: 6,000 bytes", f"{tmp_path / 'set' / 'deep/qa.txt'}: 21 bytes"]


def test_files_that_are_there_are_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    fetched(server, tmp_path)
    (tmp_path / "kb.txt").unlink()
    server.asked.clear()
    assert fetched(server, tmp_path) == (1, 1)
    assert server.asked == ["/kb.txt"]
    assert fetched(server, tmp_path) == (0, 2)
    assert server.asked == ["/kb.txt"]


def test_what_is_not_the_published_file_is_not_written(server: Server, tmp_path: Path) -> None:
    server.pages["/kb.txt"] = PAGES["/kb.txt"].replace(b"b", b"c", 1)
    message = r"kb\.txt sent 6,000 bytes that are not the published file.*nothing was written"
    with pytest.raises(InputError, match=message):
        fetched(server, tmp_path / "set")
    assert not (tmp_path / "set").exists() or there(tmp_path / "set") == {}


def test_a_body_that_breaks_off_is_asked_for_again_and_never_written(server: Server, tmp_path: Path) -> None:
    server.cut = {"/kb.txt"}
    with pytest.raises(RequestError, match=r"kb\.txt"):
        fetched(server, tmp_path / "set")
    assert server.asked == ["/kb.txt"] * QUICK.attempts
    assert there(tmp_path) == {} or all("kb.txt" not in name for name in there(tmp_path))


def test_a_stopped_download_goes_on_where_it_was(server: Server, tmp_path: Path) -> None:
    server.cut = {"/deep/qa.txt"}
    with pytest.raises(RequestError):
        fetched(server, tmp_path / "set")
    assert there(tmp_path / "set").keys() == {"kb.txt"}
    server.cut = set()
    assert fetched(server, tmp_path / "set") == (1, 1)


def test_a_file_that_the_server_does_not_have_is_named(server: Server, tmp_path: Path) -> None:
    del server.pages["/kb.txt"]
    with pytest.raises(DeniedError, match=r"404.*kb\.txt|kb\.txt.*404"):
        fetched(server, tmp_path)


def test_a_redirect_is_followed_on_the_same_host_alone(server: Server, tmp_path: Path) -> None:
    server.moved = {"/kb.txt": "/moved.txt"}
    server.pages["/moved.txt"] = PAGES["/kb.txt"]
    assert fetched(server, tmp_path / "one") == (2, 0)
    other = Server()
    try:
        server.moved = {"/kb.txt": f"{other.url}/kb.txt"}
        with pytest.raises(DeniedError, match="it has moved"):
            fetched(server, tmp_path / "two")
        assert other.asked == []
    finally:
        other.close()


def test_a_foreign_file_is_left_as_it_is(server: Server, tmp_path: Path) -> None:
    (tmp_path / "kb.txt").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"kb\.txt is there already and is not the published file"):
        fetched(server, tmp_path)
    assert (tmp_path / "kb.txt").read_bytes() == b"mine"
    assert server.asked == []


def test_a_folder_that_cannot_be_made_is_named(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RunError, match=r"file/set: cannot be written.*--to"):
        fetched(server, tmp_path / "file" / "set")


@pytest.fixture
def published(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """A catalogue with one set on the server and one that is fetched by hand."""
    sets = {
        "films": DataSet("films", "Films (Somebody 2020)", "https://films.example/", "CC0", "", tuple(server.files())),
        "books": DataSet("books", "Books", "https://books.example/", "MIT", "", ()),
    }
    monkeypatch.setattr(catalogue_module, "catalogue", lambda: sets)
    monkeypatch.setenv("SRTK_DATA", str(tmp_path / "data"))
    return server


def test_the_command_fetches_into_the_data_folder(
    published: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["datasets", "fetch", "films"]) == 0
    said = capsys.readouterr()
    assert "licence: CC0" in said.err
    assert f"{tmp_path / 'data' / 'films'}: 2 files fetched, 0 were there already" in said.out
    assert there(tmp_path / "data" / "films") == {path[1:]: content for path, content in PAGES.items()}


def test_the_command_fetches_some_files_to_another_folder(published: Server, tmp_path: Path) -> None:
    assert main(["datasets", "fetch", "films", "--only", "deep/*", "--to", str(tmp_path / "here")]) == 0
    assert there(tmp_path / "here").keys() == {"deep/qa.txt"}
    assert published.asked == ["/deep/qa.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["books"], "cannot be fetched by this command.*https://books.example/.*by hand into"),
        (["films", "--only", "*.csv"], "--only: no file of films fits; it has kb.txt, deep/qa.txt"),
        (["film"], "no data set 'film'. Did you mean 'films'"),
    ],
)
def test_the_command_says_what_it_cannot_fetch(
    published: Server, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["datasets", "fetch", *arguments]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_the_list_tells_what_is_here(published: Server, capsys: pytest.CaptureFixture[str]) -> None:
    main(["datasets", "fetch", "films"])
    capsys.readouterr()
    assert main(["datasets", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line[:1].isalpha()][:2] == [["films", "here"], ["books", "by", "hand"]]
