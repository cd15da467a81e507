"""Builds a graph with the degrees of Wikidata as a snapshot and in other stores, and reads single nodes of it.

    python -m benchmarks.speed.local_graph --triples 20000000 [--stores local scipy igraph duckdb ladybug oxigraph]
    python -m benchmarks.speed.local_graph --triples 100000000 --stores local labelled --folder FOLDER
    python -m benchmarks.speed.local_graph --triples 100000000 --entities 100000000 --stores labelled --folder FOLDER

Each store is built in a process of its own from the same TSV file and stored on disk; then it is opened in another
process, which reads the triples of random nodes in both directions, one node at a time. Times are CPU times. The store
`labelled` is a snapshot with a label for each entity; `--entities` makes many of them for few triples. `--update` also
replaces a hundredth of the triples of the snapshot. `--sum` adds up the recorded costs for a graph of the size of
Wikidata.

The degrees are the law of `benchmarks.loopback.wikidata_shaped`: the logarithm of an entity's claims is normal, the
object of rank n is drawn with a frequency of n to the power of -0.9, and a relation has favourites of its own. An
entity has one of 24 kinds, with 60 of 1,500 relations each. igraph and ladybug are packages of PyPI (`igraph`,
`real_ladybug`), not needed otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from benchmarks.figures import load, measurement, record_figure
from benchmarks.loopback.wikidata_shaped import MEDIAN_DEGREE, MOST, SPREAD

CHUNK = 100_000
RELATIONS, KINDS, OWN = 1500, 24, 60
FALL = 0.9
"""How steeply the popularity of an object falls with its rank."""
READS = 300
HUB, BEST = 1000, 15
"""Most edges that are read from a node along a step, and number of paths of two steps whose triples are read."""
LABELS, ADDED, REMOVED = "labels.tsv", "added.tsv", "removed.tsv"
SHARE = 100
"""One in so many triples is removed, and as many are added, by an update."""
WIKIDATA = {"triple": 10**9, "node": 10**8, "label": 10**8}
"""Numbers of triples between entities, entities and labels of one language in Wikidata, about."""

Ints = npt.NDArray[np.int64]


def entities_of(triples: int) -> int:
    """Return the number of entities of a graph by its number of triples."""
    return max(int(triples / (MEDIAN_DEGREE * math.exp(SPREAD**2 / 2))), 1000)


def generate(file: IO[bytes], triples: int, seed: int, entities: int = 0) -> None:
    """Write tab-separated triples, in blocks of entities; a few come twice.

    Args:
        file: File to write to.
        triples: About how many.
        seed: Seed of the random numbers.
        entities: Number of entities, each with at least one triple; 0 for as many as Wikidata has to its triples.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    random = np.random.default_rng(seed)
    median = triples / entities / math.exp(SPREAD**2 / 2) if entities else MEDIAN_DEGREE
    entities = entities or entities_of(triples)
    own = np.stack([random.choice(RELATIONS - 1, OWN, replace=False) + 1 for _ in range(KINDS)])
    steps = 2 * random.integers(1, 2**31, RELATIONS) + 1
    frequent = np.cumsum(1 / (np.arange(OWN) + 2))

    def ranks(count: int, most: int) -> Ints:
        power = 1 - FALL
        return np.asarray((1 + random.random(count) * (most**power - 1)) ** (1 / power), dtype=np.int64) - 1

    def names(letter: str, numbers: Ints) -> Any:
        return pc.binary_join_element_wise(letter, pa.array(numbers).cast(pa.string()), "")

    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    for start in range(0, entities, CHUNK):
        size = min(CHUNK, entities - start)
        degrees = np.clip(np.rint(random.lognormal(math.log(median), SPREAD, size)), 1, MOST).astype(np.int64)
        subjects = np.repeat(np.arange(start, start + size), degrees)
        first = np.cumsum(degrees) - degrees
        kinds = (subjects * 2654435761 >> 7) % KINDS
        relations = own[kinds, np.searchsorted(frequent, random.random(len(subjects)) * frequent[-1])]
        objects = ranks(len(subjects), entities) * steps[relations] % entities
        # Relation 0 leads to the class, of which there are few.
        relations[first], objects[first] = 0, ranks(size, max(entities // 1000, 10))
        columns = {"s": names("Q", 20_000_000 + 5 * subjects), "r": names("P", relations)}
        csv.write_csv(pa.table({**columns, "o": names("Q", 20_000_000 + 5 * objects)}), file, options)


def generate_labels(file: IO[bytes], entities: int, seed: int) -> None:
    """Write a label of two to four words for each entity."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    random = np.random.default_rng(seed)
    syllables = [first + second for first in "bdfgklmnprst" for second in ("a", "e", "i", "o", "u", "al", "en", "or")]
    words = pa.array(["".join(random.choice(syllables, random.integers(2, 5))) for _ in range(50_000)] + [""])
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    for start in range(0, entities, CHUNK):
        part = 20_000_000 + 5 * np.arange(start, min(start + CHUNK, entities))
        count, places = random.integers(2, 5, len(part)), random.integers(0, len(words) - 1, (4, len(part)))
        texts = [words.take(pa.array(np.where(at < count, places[at], len(words) - 1))) for at in range(4)]
        ids = pc.binary_join_element_wise("Q", pa.array(part).cast(pa.string()), "")
        table = pa.table({"id": ids, "label": pc.utf8_trim_whitespace(pc.binary_join_element_wise(*texts, " "))})
        csv.write_csv(table, file, options)


def read_columns(source: str) -> Any:
    """Read the file as a table of three columns with dictionaries."""
    import pyarrow as pa
    from pyarrow import csv

    types = dict.fromkeys("sro", pa.dictionary(pa.int32(), pa.string()))
    return csv.read_csv(
        source,
        csv.ReadOptions(column_names=[*"sro"]),
        csv.ParseOptions(delimiter="\t", quote_char=False),
        csv.ConvertOptions(column_types=types),
    ).unify_dictionaries()


def numbered(source: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Ints, Ints, Ints]:
    """Return ids of nodes and of relations, sorted, and the distinct triples as three columns of numbers."""
    table = read_columns(source)
    texts, codes = {}, {}
    for name in "sro":
        column = table.column(name)
        texts[name] = column.chunk(0).dictionary.to_numpy(zero_copy_only=False).astype("S")
        codes[name] = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
    nodes, relations = np.unique(np.concatenate([texts["s"], texts["o"]])), np.unique(texts["r"])
    ends = {"s": nodes, "r": relations, "o": nodes}
    s, r, o = (np.searchsorted(ends[name], texts[name])[codes[name]] for name in "sro")
    keys = np.unique((s * len(relations) + r) * len(nodes) + o)
    return (
        nodes,
        relations,
        keys // len(nodes) // len(relations),
        keys // len(nodes) % len(relations),
        keys % len(nodes),
    )


def build_local(source: str, out: Path, labels: tuple[str, ...] = ()) -> None:
    """Build the snapshot."""
    from srtk_plugin_local.snapshot.build import build
    from srtk_plugin_local.snapshot.build_settings import BuildSettings

    build(BuildSettings(files=(source,), labels=labels), out / "graph")


def build_labelled(source: str, out: Path) -> None:
    """Build the snapshot with the labels beside the triples."""
    build_local(source, out, (str(Path(source).with_name(LABELS)),))


def open_local(out: Path) -> Callable[[str], int]:
    """Open the snapshot."""
    from srtk_plugin_local.snapshot.graph import LocalGraph

    from srtk_framework.values import Pattern

    graph = LocalGraph(str(out / "graph"))
    graph.open()
    return lambda id_: sum(map(len, graph.match([Pattern(subject=id_), Pattern(object=id_)])))


def build_scipy(source: str, out: Path) -> None:
    """Write a matrix of relations for each direction: a cell has one relation, so edges are rows of a CSR by hand."""
    nodes, relations, s, r, o = numbered(source)
    np.save(out / "nodes.npy", nodes)
    np.save(out / "relations.npy", relations)
    for side, starts, ends in (("out", s, o), ("in", o, s)):
        from scipy.sparse import csr_array

        order = np.lexsort((ends, r, starts))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=len(nodes)))])
        size = (len(nodes), len(nodes))
        matrix = csr_array((r[order].astype(np.uint16), ends[order].astype(np.int32), offsets), shape=size)
        for part in ("data", "indices", "indptr"):
            np.save(out / f"{side}.{part}.npy", getattr(matrix, part))


def open_scipy(out: Path) -> Callable[[str], int]:
    """Map the arrays."""
    names = (
        "nodes",
        "relations",
        *(f"{side}.{part}" for side in ("out", "in") for part in ("data", "indices", "indptr")),
    )
    arrays = {name: np.load(out / f"{name}.npy", mmap_mode="r") for name in names}

    def read(id_: str) -> int:
        node = int(np.searchsorted(arrays["nodes"], id_.encode()))
        count = 0
        for side in ("out", "in"):
            low, high = arrays[f"{side}.indptr"][node : node + 2].tolist()
            kinds = arrays["relations"][arrays[f"{side}.data"][low:high]].tolist()
            ends = arrays["nodes"][arrays[f"{side}.indices"][low:high]].tolist()
            count += len(list(zip(kinds, ends, strict=True)))
        return count

    return read


def build_igraph(source: str, out: Path) -> None:
    """Write a pickled graph whose nodes have names and whose edges have relations."""
    import igraph

    nodes, relations, s, r, o = numbered(source)
    graph = igraph.Graph(n=len(nodes), edges=np.stack([s, o], axis=1), directed=True)
    graph.vs["name"] = nodes.astype(str).tolist()
    graph.es["relation"] = relations.astype(str)[r].tolist()
    graph.write_pickle(str(out / "graph.pickle"))


def open_igraph(out: Path) -> Callable[[str], int]:
    """Read the graph into memory."""
    import igraph

    graph = igraph.Graph.Read_Pickle(str(out / "graph.pickle"))
    names = graph.vs["name"]

    def read(id_: str) -> int:
        rows = [(edge["relation"], names[edge.source], names[edge.target]) for edge in graph.vs.find(id_).all_edges()]
        return len(rows)

    return read


def build_duckdb(source: str, out: Path) -> None:
    """Write a table with an index on subjects and an index on objects."""
    import duckdb

    con = duckdb.connect(str(out / "graph.duckdb"), config={"threads": 1, "memory_limit": "1GB"})
    read = f"read_csv('{source}', delim='\t', header=false, names=['s', 'r', 'o'], quote='')"
    con.execute(f"CREATE TABLE t AS SELECT DISTINCT s, r, o FROM {read} ORDER BY s, r, o")
    con.execute("CREATE INDEX by_subject ON t (s)")
    con.execute("CREATE INDEX by_object ON t (o)")
    con.close()


def open_duckdb(out: Path) -> Callable[[str], int]:
    """Open the database."""
    import duckdb

    con = duckdb.connect(str(out / "graph.duckdb"), read_only=True, config={"threads": 1})
    sql = "SELECT s, r, o FROM t WHERE s = $1 UNION ALL SELECT s, r, o FROM t WHERE o = $1"
    return lambda id_: len(con.execute(sql, [id_]).fetchall())


def build_ladybug(source: str, out: Path) -> None:
    """Write a table of nodes and a table of edges, copied from CSV."""
    import duckdb
    import real_ladybug

    read = f"read_csv('{source}', delim='\t', header=false, names=['s', 'r', 'o'], quote='')"
    nodes, edges = out / "nodes.csv", out / "edges.csv"
    duckdb.execute(f"COPY (SELECT s FROM {read} UNION SELECT o FROM {read}) TO '{nodes}' (HEADER false)")
    duckdb.execute(f"COPY (SELECT DISTINCT s, o, r FROM {read}) TO '{edges}' (HEADER false)")
    con = real_ladybug.Connection(real_ladybug.Database(str(out / "graph"), buffer_pool_size=4 << 30), num_threads=1)
    con.execute("CREATE NODE TABLE N(id STRING, PRIMARY KEY(id))")
    con.execute("CREATE REL TABLE E(FROM N TO N, r STRING)")
    con.execute(f"COPY N FROM '{nodes}' (HEADER=false)")
    con.execute(f"COPY E FROM '{edges}' (HEADER=false)")
    con.close()
    nodes.unlink()
    edges.unlink()


def open_ladybug(out: Path) -> Callable[[str], int]:
    """Open the database."""
    import real_ladybug

    database = real_ladybug.Database(str(out / "graph"), read_only=True, buffer_pool_size=4 << 30)
    con = real_ladybug.Connection(database, num_threads=1)
    queries = [f"MATCH (a:N {{id: $id}}){edge}(b:N) RETURN e.r, b.id" for edge in ("-[e:E]->", "<-[e:E]-")]
    return lambda id_: sum(len(con.execute(query, {"id": id_}).get_all()) for query in queries)


def build_oxigraph(source: str, out: Path) -> None:
    """Load N-Triples, which are made of the file first."""
    import pyoxigraph

    triples = out / "triples.nt"
    with open(source) as rows, triples.open("w") as file:
        file.writelines("<x:{}> <x:{}> <x:{}> .\n".format(*row[:-1].split("\t")) for row in rows)
    store = pyoxigraph.Store(str(out / "graph"))
    store.bulk_load(path=str(triples), format=pyoxigraph.RdfFormat.N_TRIPLES)
    store.flush()
    triples.unlink()


def open_oxigraph(out: Path) -> Callable[[str], int]:
    """Open the store."""
    import pyoxigraph

    store = pyoxigraph.Store.read_only(str(out / "graph"))

    def read(id_: str) -> int:
        node = pyoxigraph.NamedNode(f"x:{id_}")
        patterns = ((node, None, None), (None, None, node))
        rows = [
            (q.subject.value, q.predicate.value, q.object.value) for p in patterns for q in store.quads_for_pattern(*p)
        ]
        return len(rows)

    return read


def changes(source: Path) -> None:
    """Write the files of triples to remove and to add, a hundredth of all; the added have new objects."""
    with source.open() as rows, source.with_name(ADDED).open("w") as new, source.with_name(REMOVED).open("w") as gone:
        for place, row in enumerate(rows):
            if place % SHARE == 0:
                gone.write(row)
                new.write(row[:-1] + "0\n")


def update_local(source: str, out: Path) -> None:
    """Replace a hundredth of the triples of the snapshot."""
    from srtk_plugin_local.snapshot.build import update

    add, remove = (str(Path(source).with_name(name)) for name in (ADDED, REMOVED))
    update(out / "graph", {"files": (add,)}, (remove,))


STORES = {
    "local": (build_local, open_local),
    "labelled": (build_labelled, open_local),
    "scipy": (build_scipy, open_scipy),
    "igraph": (build_igraph, open_igraph),
    "duckdb": (build_duckdb, open_duckdb),
    "ladybug": (build_ladybug, open_ladybug),
    "oxigraph": (build_oxigraph, open_oxigraph),
}
"""Functions that build a store in an empty folder, and open it; what is opened reads a node."""


def cost(make: Callable[[str, Path], None], source: str, out: Path) -> dict[str, float]:
    """Call a function here; return CPU seconds, peak memory in MB, and the MB on disk."""
    os.environ["OMP_NUM_THREADS"] = "1"
    make(source, out)
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return {
        "CPU s": round(used.ru_utime + used.ru_stime, 1),
        "peak memory, MB": round(used.ru_maxrss * unit / 1e6),
        "MB on disk": round(size / 1e6, 1),
    }


def reading(store: str, out: Path, ids: list[str]) -> dict[str, float]:
    """Open a store twice, and read nodes; return CPU times and the number of triples that were read."""
    time.sleep(3)  # The snapshot checks files anew that changed in the last two seconds.
    first = time.process_time()
    STORES[store][1](out)
    start = time.process_time()
    read = STORES[store][1](out)
    opened = time.process_time()
    found = sum(read(id_) for id_ in ids[: READS // 10])
    begun = time.process_time()
    found += sum(read(id_) for id_ in ids[READS // 10 :])
    ended = time.process_time()
    for id_ in ids[READS // 10 :]:
        read(id_)
    again = time.process_time()
    return {
        "opening first, ms": round(1000 * (start - first), 2),
        "opening again, ms": round(1000 * (opened - start), 2),
        "one node, µs": round(1e6 * (ended - begun) / (len(ids) - READS // 10), 1),
        "one node again, µs": round(1e6 * (again - ended) / (len(ids) - READS // 10), 1),
        "triples read": found,
    }


def temporary(out: Path) -> int:
    """Return the bytes of the files beside a snapshot that is built."""
    found = 0
    for folder, folders, files in os.walk(out):
        folders[:] = [name for name in folders if name not in ("graph", "snapshot")]
        for file in files:
            with suppress(FileNotFoundError):  # It was removed in between.
                found += os.stat(os.path.join(folder, file)).st_size
    return found


def watched(result: Any, folder: Path) -> tuple[Any, float]:
    """Wait for a result; return it with the most MB of temporary files that were below a folder meanwhile."""
    most = 0
    while not result.ready():
        most = max(most, temporary(folder))
        result.wait(0.2)
    return result.get(), round(most / 1e6, 1)


def searching(out: Path, ids: list[str]) -> dict[str, float]:
    """Return the CPU time of what a search of two steps reads for a question, whose topic is a node."""
    from srtk_plugin_local.snapshot.graph import LocalGraph

    graph = LocalGraph(str(out / "graph"))
    graph.open()

    def question(id_: str) -> None:
        topic = graph.frontiers([[id_]])[0]
        first = graph.steps([topic], True)[0]
        reached = graph.follow([topic] * len(first), first, HUB)
        pairs = [(end, step) for end, steps in zip(reached, graph.steps(reached, True), strict=True) for step in steps]
        chosen = pairs[:: max(len(pairs) // BEST, 1)]
        found = graph.triples([topic] * len(first), first, HUB)
        found = [*found, *graph.triples([end for end, _ in chosen], [step for _, step in chosen], HUB)]
        assert any(map(len, found))

    for id_ in ids[: READS // 10]:
        question(id_)
    start = time.process_time()
    for id_ in ids[READS // 10 :]:
        question(id_)
    return {"reads of a search, ms": round(1000 * (time.process_time() - start) / (len(ids) - READS // 10), 2)}


PARTS = {
    "groups and targets": ("triple", r"(forward|inverse)\.(relations|starts|blocks|targets)"),
    "first groups": ("node", r"(forward|inverse)\.nodes"),
    "ids": ("node", r"(nodes|relations)\.(offsets|bytes)|literals|relations\.count"),
    "hashes of ids": ("node", r"nodes\.hash.*"),
    "index of names": ("node", r"names\..*"),
    "index of near names": ("node", r"near\..*"),
    "labels": ("label", r"labels\..*"),
}
"""Files of a snapshot, with the unit that their size depends on; of others, the graph has next to nothing."""


def bytes_of_parts(out: Path) -> tuple[dict[str, float], dict[str, int]]:
    """Return the bytes of the snapshot by part, each for one of its unit, and the number of units."""
    from srtk_plugin_local.snapshot.meta_file import read_meta

    meta = read_meta(out / "graph")
    units = {"triple": meta.counts["triples"], "node": meta.counts["entities"], "label": meta.counts["labels"]}
    parts = {}
    for part, (unit, names) in PARTS.items():
        if units[unit]:
            taken = sum(entry["bytes"] for name, entry in meta.files.items() if re.fullmatch(names, name))
            parts[part] = taken / units[unit]
    return parts, units


def edges(parts: Mapping[str, float], units: Mapping[str, int]) -> float:
    """Return the bytes of the edges in both directions for each triple."""
    return parts["groups and targets"] + parts["first groups"] * units["node"] / units["triple"]


def sums(records: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return GB and CPU hours of a snapshot of the size of Wikidata, each term in proportion to its unit.

    Args:
        records: Figures of this benchmark. Terms of triples and nodes are those of the largest snapshot, terms of
            labels those by which the largest with labels differs from the same without.
    """
    found: dict[tuple[str, float], dict[str, float]] = {}
    for record in records:
        if match := re.fullmatch(r"([\d.]+) million triples", record["set"]):
            found.setdefault((record["method"], float(match[1]) * 1e6), {})[record["metric"]] = record["figure"]
    triples, at = (
        max(size for method, size in found if method == name and "input, MB" in found[method, size])
        for name in ("local", "labelled")
    )
    plain, labelled, beside = found["local", triples], found["labelled", at], found["local", at]

    def whole(metric: str) -> float:
        more = (labelled[metric] - beside[metric]) / entities_of(int(at)) * WIKIDATA["label"]
        return plain[metric] / triples * WIKIDATA["triple"] + more

    terms = {**labelled, **plain}
    if lacking := [part for part, (unit, _) in PARTS.items() if f"bytes a {unit}: {part}" not in terms]:
        raise SystemExit(f"no record of these graphs has the bytes of {', '.join(lacking)}; measure them again first")
    graph = {part: terms[f"bytes a {unit}: {part}"] * WIKIDATA[unit] / 1e9 for part, (unit, _) in PARTS.items()}
    made = {name.partition(",")[0]: whole(name) / 1e3 for name in ("input, MB", "temporary files, MB")}
    rows = {f"{name}, GB": figure for name, figure in {**graph, "graph": sum(graph.values()), **made}.items()}
    return {name: round(figure, 1) for name, figure in {**rows, "CPU hours": whole("CPU s") / 3600}.items()}


def sampled(source: Path) -> list[str]:
    """Return the subjects of lines evenly spread over the file."""

    def lines() -> Iterator[str]:
        with source.open("rb") as file:
            for place in range(READS):
                file.seek(source.stat().st_size * place // READS)
                file.readline()
                if line := file.readline():
                    yield line.split(b"\t")[0].decode()

    return list(lines())


def keep(where: str, store: str, figures: Mapping[str, float]) -> None:
    """Print and record the figures of a store."""
    print(json.dumps({"set": where, "store": store, **figures}, ensure_ascii=False), flush=True)
    for metric, figure in figures.items():
        record_figure(where, store, metric, figure, None)


def main() -> int:
    """Measure the stores, and print each at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=2_000_000)
    parser.add_argument("--entities", type=int, default=0, help="number of entities, by default by Wikidata's degrees")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=["local"])
    parser.add_argument("--update", action="store_true", help="also update the snapshot")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="an empty folder for files and stores; by default a temporary one")
    parser.add_argument("--sum", action="store_true", help="sum the recorded figures for the size of Wikidata instead")
    args = parser.parse_args()
    if args.sum:
        keep("Wikidata, summed", "labelled", sums(measurement(load("stores"), "local-graph")["records"]))
        return 0
    where = f"{args.triples / 1e6:g} million triples"
    where += f" of {args.entities / 1e6:g} million entities" if args.entities else ""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        source = Path(folder) / "triples.tsv"
        with source.open("wb") as file:
            generate(file, args.triples, args.seed, args.entities)
        if "labelled" in args.stores:
            with source.with_name(LABELS).open("wb") as file:
                generate_labels(file, args.entities or entities_of(args.triples), args.seed)
        ids = sampled(source)
        for store in args.stores:
            out = Path(folder) / store
            out.mkdir()
            with spawn.Pool(1) as pool:
                built = pool.apply_async(cost, (STORES[store][0], str(source), out))
                figures, most = watched(built, out)
            with spawn.Pool(1) as pool:
                figures |= pool.apply(reading, (store, out, ids))
            if store in ("local", "labelled"):
                inputs = [source, *([source.with_name(LABELS)] if store == "labelled" else [])]
                figures |= {"input, MB": round(sum(path.stat().st_size for path in inputs) / 1e6, 1)}
                parts, units = bytes_of_parts(out)
                figures |= {"temporary files, MB": most, "bytes a triple: edges": round(edges(parts, units), 2)}
                figures |= {f"bytes a {PARTS[part][0]}: {part}": round(taken, 2) for part, taken in parts.items()}
            if store == "local":
                with spawn.Pool(1) as pool:
                    figures |= pool.apply(searching, (out, ids))
            if store in ("local", "labelled") and args.update:
                changes(source)
                with spawn.Pool(1) as pool:
                    changed = pool.apply(cost, (update_local, str(source), out))
                figures |= {f"update: {name}": changed[name] for name in ("CPU s", "peak memory, MB")}
            keep(where, store, figures)
            shutil.rmtree(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
