"""Serve a graph, or a recipe, over HTTP, on this computer alone unless --host says otherwise.

WHAT is a recipe (a file that ends in .yaml or .yml), or a graph as of `srtk ask`: a file, a folder, an address, a name.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import tempfile
from pathlib import Path
from typing import Any

from srtk_framework.cli import OK, add_set_argument, note
from srtk_framework.host import Observer
from srtk_framework.recipe import Places, from_data, load, set_value
from srtk_framework.run import Graph, Retriever, Session
from srtk_framework.values import InputError, PluginError, RecipeError, redacted
from srtk_plugin_serve.metrics import Metrics
from srtk_plugin_serve.service import Access, service

HOST, PORT = "127.0.0.1", 8123
WAITING = 1_000
"""Calls that may wait: some ten seconds of work. A client that is refused at once learns when to come back."""

_SETTING = "SRTK_SERVE"
"""Variable with the file of the recipe and the access for the workers."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_GRACE = 10
"""Seconds that requests have to end after the service was asked to stop."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("what", metavar="WHAT", help="a recipe, a file or folder of triples, an address, or a name such as wikidata")
    add("--host", default=HOST, metavar="ADDRESS", help=f"address to listen on ({HOST}); 0.0.0.0 for every network")
    add("--port", type=int, default=PORT, metavar="N", help=f"port to listen on ({PORT})")
    add("--workers", type=int, default=1, metavar="N", help="processes, which share a graph on disk (1)")
    add("--token", metavar="VARIABLE", help="environment variable with a token that each request must bring")
    add(
        "--mcp",
        nargs="?",
        const="stdio",
        choices=("stdio", "http"),
        help="speak the Model Context Protocol instead: over stdio, or over HTTP below /mcp (srtk-plugin-mcp)",
    )
    add("--waiting", type=int, default=WAITING, metavar="N", help=f"most calls that wait; others get 503 ({WAITING})")
    add_set_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.workers < 1 or args.waiting < 1:
        raise InputError("--workers and --waiting are numbers from 1 on")
    if args.mcp is not None:
        return _run_mcp(args)
    import uvicorn

    token = _token(args.token)
    _check_free(args.host, args.port)
    local = args.host in _LOOPBACK
    if not local and not token:
        note(f"anyone who reaches {args.host} may ask; --token VARIABLE asks for a token")
    hosts = list(_LOOPBACK) if local else []
    metrics = Metrics()
    session = _session(args, metrics)
    session.open()  # so that a fault is told here, and not by the server
    note(f"ask at {_address(args)}/ (for programs: /schema/openapi.json); Ctrl-C ends")
    options = _options(args)
    if args.workers == 1:
        uvicorn.run(service(lambda _: session, Access(tuple(hosts), token), metrics), **options)
        return OK
    session.close()
    setting = {
        "recipe": session.recipe.portable(),
        "file": str(Path(session.recipe.file)),
        "waiting": args.waiting,
        "hosts": hosts,
        "token": args.token,
    }
    with tempfile.TemporaryDirectory(prefix="srtk-serve-") as folder:
        file = Path(folder) / "setting.json"  # a variable holds 128 KB at most, a recipe may hold more
        file.write_text(json.dumps(setting), encoding="utf-8")
        os.environ[_SETTING] = str(file)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        uvicorn.run(f"{__name__}:from_environment", factory=True, workers=args.workers, **options)
    return OK


def _run_mcp(args: argparse.Namespace) -> int:
    """Speak the Model Context Protocol; the graph is opened at the first call of a tool.

    Raises:
        SrtkError: If the plugin is not installed, or flags of the HTTP service are given.
    """
    try:
        from srtk_plugin_mcp import mcp_server
    except ImportError as error:
        raise PluginError("srtk-plugin-mcp is not installed; run: pip install srtk-plugin-mcp") from error
    if args.token is not None or args.workers != 1:
        raise InputError("--token and --workers belong to the HTTP service; leave them out beside --mcp")
    server = mcp_server(lambda: _session(args))
    if args.mcp == "stdio":
        server.run("stdio")
    else:
        import uvicorn

        _check_free(args.host, args.port)
        if args.host not in _LOOPBACK:
            note(f"anyone who reaches {args.host} may ask, and pages of any site; put a proxy with a token before it")
        note(f"{_address(args)}/mcp speaks the Model Context Protocol; Ctrl-C ends")
        uvicorn.run(server.streamable_http_app(host=args.host), **_options(args))
    return OK


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the server."""
    options = {"host": args.host, "port": args.port, "log_level": "warning", "lifespan": "on"}
    return {**options, "timeout_graceful_shutdown": _GRACE}


def _address(args: argparse.Namespace) -> str:
    """Return the address at which the service is found."""
    return f"http://{f'[{args.host}]' if ':' in args.host else args.host}:{args.port}"


def _check_free(host: str, port: int) -> None:
    """Check that a server can listen at each address of a host, before a graph is opened for it.

    Raises:
        InputError: If it cannot, such as where another program listens.
    """
    if not 1 <= port <= 65535:
        raise InputError(f"--port {port}: a port is a number from 1 to 65535")
    try:
        # A name may have several, as localhost has ::1 and 127.0.0.1, and the server listens at all of them.
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as probe:
                if os.name == "posix":  # as servers do; elsewhere it would take the port from another program
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
    except (OSError, UnicodeError) as error:  # a name with a part that is empty or too long is no name of a host
        fault = error.strerror or error if isinstance(error, OSError) else "is no name of a host"
        sentence = f"--host {host} --port {port}: {fault}; choose another address, or another port"
        raise InputError(sentence) from error


def from_environment() -> Any:
    """Make the application that the command describes; called in each of its processes."""
    setting = json.loads(Path(os.environ[_SETTING]).read_text(encoding="utf-8"))

    def make(metrics: Metrics) -> Session:
        return Session(from_data(setting["recipe"], Places(setting["file"])), [metrics], setting["waiting"])

    return service(make, Access(tuple(setting["hosts"]), _token(setting["token"])))


def _session(args: argparse.Namespace, *observers: Observer) -> Session:
    """Make the session that is served; the graph of a file is built where that was not done.

    Raises:
        SrtkError: If it is not there, or wrong.
    """
    if args.what.endswith((".yaml", ".yml")):
        session = Session(load(args.what, args.set), observers, args.waiting)
    else:
        keys: dict[str, Any] = {}
        problems: list[str] = []
        for override in args.set:
            set_value(keys, override, Places("srtk serve"), problems)
        if problems:
            raise RecipeError([redacted(problem) for problem in problems])
        graph = Graph.open(args.what, **keys.pop("knowledge_graph", {}))
        retriever = Retriever(
            graph, reader=keys.pop("reader", "paths"), waiting=args.waiting, observers=observers, **keys
        )
        if graph.is_new:
            note(f"building the graph of {graph.name}, once")
            retriever.open()
            retriever.close()
        session = retriever.session
    if not session.methods:
        raise InputError(f"{args.what}: the recipe has no expander, so nothing can be asked; add `expander:`")
    return session


def _token(variable: str | None) -> str:
    """Return the token of a variable; empty without a variable.

    Raises:
        InputError: If it is not set.
    """
    if variable is None:
        return ""
    if not (token := os.environ.get(variable, "")):
        raise InputError(f"--token {variable}: that environment variable is not set; set it to the token")
    return token
