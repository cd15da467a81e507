"""Files of published data sets, fetched and compared with their checksums; a file appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from srtk_plugin_web import Client, Limits, Request, Response, checked

from srtk_framework.records import publish, workplace
from srtk_framework.values import InputError, RunError
from srtk_plugin_datasets.catalogue import DataFile

LIMITS = Limits(per_second=4.0, deadline=300.0, patience=900.0, answer_bytes=1 << 29)
USER_AGENT = "srtk-framework (data sets)"


def download(
    files: Sequence[DataFile], folder: Path, tell: Callable[[str], None], limits: Limits = LIMITS
) -> tuple[int, int]:
    """Fetch the files that are not there yet.

    A file that is there with the right content is left alone, so that a stopped download goes on by the same call.

    Args:
        files: The files.
        folder: Where they belong.
        tell: Called with a line for each file that was fetched.
        limits: How the servers are asked.

    Returns:
        How many files were fetched, and how many were there already.

    Raises:
        InputError: If another file stands in the place of a file, or the download is not the published file.
        RequestError: If a server does not send a file.
        RunError: If a file cannot be written, or another process fetches into the same folder.
    """
    wanted = [file for file in files if not _is_there(file, folder / file.path)]
    if not wanted:
        return 0, len(files)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with workplace(folder, "wait for it, or choose another --to") as place:
            for file, content in _contents(wanted, limits):
                (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
                (place / "file").write_bytes(content)
                publish(place / "file", folder / file.path)
                tell(f"{folder / file.path}: {len(content):,} bytes")
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror}); choose another --to") from error
    return len(wanted), len(files) - len(wanted)


def _is_there(file: DataFile, place: Path) -> bool:
    if not place.exists():
        return False
    if place.is_file() and file.holds(place.read_bytes()):
        return True
    raise InputError(f"{place} is there already and is not the published file; move it away, or choose another --to")


def _contents(files: Sequence[DataFile], limits: Limits) -> Iterator[tuple[DataFile, bytes]]:
    """Yield the content of each file, asking each server through one client."""
    for host in dict.fromkeys(_host(file.url) for file in files):
        with closing(Client(host, limits, USER_AGENT, noun="file", setting="address")) as client:
            for file in files:
                if _host(file.url) == host:
                    yield file, _content(client, file)


def _content(client: Client, file: DataFile) -> bytes:
    def read(response: Response) -> bytes:
        return checked(response).body

    content = client.ask(Request(url=file.url, subject=file.url), read)
    if not file.holds(content):
        raise InputError(
            f"{file.url} sent {len(content):,} bytes that are not the published file: its checksum is not"
            f" {file.checksum}; nothing was written; try again, and if it stays so, fetch the file by hand"
        )
    return content


def _host(url: str) -> str:
    place = urlsplit(url)
    return f"{place.scheme}://{place.netloc}"
