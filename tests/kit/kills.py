"""Commands that are killed at the N-th call that changes files, for N from one until the command ends unharmed.

    with Kills(tmp_path, "duckdb") as kills:
        for killed in kills.everywhere(["graph", "build", "t.tsv", "--out", "g"], reset):
            assert opened(tmp_path / "g").source() in (old, new)
            assert kills.run(command).code == 0

A kill is SIGKILL, so buffers are lost and no ``finally`` runs; a write is struck when half of it is done. With
``how="power"`` what no fsync made safe is lost too; with ``how="full"`` and ``how="failed"`` nothing is killed, but
calls fail. The calls are listed in ``kit.kill_points``; it needs ``os.fork`` and ``/proc``, so Linux.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import attrs

RENAMES = ("rename", "unlink", "fsync")
"""The calls between which a file or folder may be neither old nor new."""
EVERY = (*RENAMES, "open", "write", "truncate", "mkdir", "link")


@attrs.frozen
class Ended:
    """What became of a command.

    Attributes:
        code: Its exit status; negative for the signal that killed it.
        calls: The calls that counted, such as ``rename g/.meta.json.part``; the last is the one that was struck.
        stdout: What it printed.
        stderr: What it printed as errors.
    """

    code: int
    calls: tuple[str, ...]
    stdout: str
    stderr: str

    @property
    def killed(self) -> bool:
        """Whether it was killed."""
        return self.code == -9


class Kills:
    """A process that runs commands in forks of itself; a context manager.

    Args:
        root: The folder in which commands run; calls about other places do not count.
        *modules: Modules to import once, before the forks.
        target: The function that takes the words of a command, as ``module:function``.
    """

    def __init__(self, root: Path, *modules: str, target: str = "srtk_framework.cli:main") -> None:
        self._root = root
        self._modules = modules
        self._target = target

    def __enter__(self) -> Kills:
        script = Path(__file__).with_name("kill_points.py")
        command = [sys.executable, str(script), self._target.partition(":")[0], *self._modules]
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:
            if error is not None:
                self._process.kill()

    def run(self, command: Sequence[str], at: int = 0, how: str = "kill", kinds: Sequence[str] = RENAMES) -> Ended:
        """Run a command, struck at its call number ``at``, or at none."""
        out, err = (self._root.with_name(f"{self._root.name}.{name}") for name in ("stdout", "stderr"))
        request = {
            "target": self._target,
            "arguments": list(command),
            "root": str(self._root),
            "kinds": list(kinds),
            "at": at,
            "how": how,
            "stdout": str(out),
            "stderr": str(err),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        said = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
        return Ended(answer["code"], tuple(answer["calls"]), *said)

    def everywhere(
        self,
        command: Sequence[str],
        reset: Callable[[], object],
        how: str = "kill",
        kinds: Sequence[str] = RENAMES,
        every: int = 1,
    ) -> Iterator[Ended]:
        """Yield after each kill, at one call after the other, each on a state that ``reset`` makes.

        It ends with the first command that its kill does not reach.

        Args:
            command: The words after ``srtk``.
            reset: Makes the state before the command.
            how: What strikes it; see ``kit.kill_points``.
            kinds: Kinds of calls to be struck.
            every: Strike at each n-th call only.
        """
        at = 1
        while True:
            reset()
            ended = self.run(command, at, how, kinds)
            if len(ended.calls) < at:
                assert ended.code == 0, ended.stderr
                return
            yield ended
            at += every


def tree(folder: Path) -> dict[str, str]:
    """Return the hash of every file under a folder by its relative path; a folder without files is there too."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name + "/"] = ""
    return found


def restored(saved: Path, folder: Path) -> Callable[[], None]:
    """Return a ``reset`` that makes a folder what a saved copy of it is."""

    def reset() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(saved, folder, symlinks=True)

    return reset
