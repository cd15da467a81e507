"""No file of a stranger runs code: each call that loads a file is known, and no planted file runs.

The search reads the source, so that a new load path fails here until it is listed with the reason why it is safe.
"""

from __future__ import annotations

import ast
import io
import json
import pickle
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from srtk_framework.cli import main
from srtk_framework.records import write_model
from srtk_framework.values import SrtkError

ROOT = Path(__file__).parents[1]
LOADS = re.compile(
    r"""(?x)
    (?:.*\.)?(?:from_pretrained|load_state_dict|load_file|safe_open|QdrantClient|InferenceSession|Tokenizer\.from_file
        |exec_module|spec_from_file_location|load_workbook|ParquetFile|snapshot_download)
    |torch\.(?:load|jit|hub)(?:\..*)? |numpy\.(?:load|memmap|fromfile|loadtxt|genfromtxt) |bm25s\.BM25\.load
    |(?:pickle|cloudpickle|dill|joblib|marshal|shelve|jsonpickle|srsly|runpy)(?:\..*)?
    |yaml\.(?!safe_dump|Node|\w+Node|\w+Error|reader|SafeLoader\(\'\'\)).*
    |spacy\.load |xllamacpp\.\w+ |(?:sqlite3|duckdb)\.connect
    |importlib\.(?:import_module|reload) |os\.(?:system|popen|exec\w*|spawn\w*)
    |subprocess\.(?:run|Popen|call|check_\w+|getoutput|getstatusoutput)
    |xml\.etree\.ElementTree\.(?:parse|iterparse|fromstring|XML|TreeBuilder)
    |(?:eval|exec|compile|__import__)"""
)
KNOWN = {
    # NumPy without pickles
    "bm25s.BM25.load": ["plugins/srtk-plugin-index/srtk_plugin_index/indexes/bm25.py"],
    # in memory
    "duckdb.connect": ["plugins/srtk-plugin-local/srtk_plugin_local/snapshot/build.py"],
    # signatures made from the roles' classes
    "exec": ["srtk_framework/host/ports.py"],
    # downloads; *.py and pickles only if SRTK_TRUST allows them
    "huggingface_hub.snapshot_download": ["plugins/srtk-plugin-models/srtk_plugin_models/folder.py"],
    # names that stand in the source; in class_path the Python that a recipe names
    "importlib.import_module": [
        "plugins/srtk-plugin-files/srtk_plugin_files/facts.py",
        "plugins/srtk-plugin-local/srtk_plugin_local/snapshot/tools/__init__.py",
        "plugins/srtk-plugin-openai/srtk_plugin_openai/token_count.py",
        "plugins/srtk-plugin-sparql/srtk_plugin_sparql/snapshots.py",
        "srtk_framework/__init__.py",
        "srtk_framework/cli/__init__.py",
        "srtk_framework/graph/__init__.py",
        "srtk_framework/host/class_path.py",
        "srtk_framework/roles/__init__.py",
        "srtk_framework/run/__init__.py",
        "srtk_framework/testing/base.py",
    ],
    # the Python that a recipe names
    "importlib.util.spec_from_file_location": ["srtk_framework/host/class_path.py"],
    # safetensors and no code of the folder, unless SRTK_TRUST allows them
    "kind(config).from_pretrained": ["plugins/srtk-plugin-transformers/srtk_plugin_transformers/torch_settings.py"],
    # tensors that were read safely before
    "model.load_state_dict": [
        "plugins/srtk-plugin-transformers/srtk_plugin_transformers/mask_filler.py",
        "plugins/srtk-plugin-transformers/srtk_plugin_transformers/trainable_module.py",
    ],
    # tensors that were read safely before
    "module.load_state_dict": ["plugins/srtk-plugin-septa/srtk_plugin_septa/fine_tuning.py"],
    # tensors that were read safely before
    "module.model.load_state_dict": ["plugins/srtk-plugin-transformers/srtk_plugin_transformers/encoder.py"],
    # tensors that were read safely before
    "network.load_state_dict": [
        "plugins/srtk-plugin-graph-reader/srtk_plugin_graph_reader/model.py",
        "plugins/srtk-plugin-graph-reader/srtk_plugin_graph_reader/reader.py",
        "plugins/srtk-plugin-septa/srtk_plugin_septa/model_files.py",
        "plugins/srtk-plugin-septa/srtk_plugin_septa/option_checkpoint.py",
        "plugins/srtk-plugin-sr/srtk_plugin_sr/trainer.py",
    ],
    # without pickles, as a test below checks
    "numpy.load": [
        "plugins/srtk-plugin-index/srtk_plugin_index/indexes/entry_file.py",
        "plugins/srtk-plugin-patterns/srtk_plugin_patterns/rules.py",
        "plugins/srtk-plugin-sr/srtk_plugin_sr/vectors.py",
        "srtk_framework/cli/doctor.py",
    ],
    # numbers
    "numpy.memmap": [
        "plugins/srtk-plugin-index/srtk_plugin_index/indexes/entry_file.py",
        "plugins/srtk-plugin-index/srtk_plugin_index/indexes/exact.py",
        "plugins/srtk-plugin-index/srtk_plugin_index/indexes/vector_journal.py",
        "plugins/srtk-plugin-index/srtk_plugin_index/indexes/vectors.py",
    ],
    # numbers of a build, read back while it lasts
    "numpy.fromfile": ["plugins/srtk-plugin-local/srtk_plugin_local/snapshot/array_writer.py"],
    # operations of ONNX; no library of its own is registered
    "onnxruntime.InferenceSession": [
        "plugins/srtk-plugin-onnx/srtk_plugin_onnx/onnx_model.py",
        "plugins/srtk-plugin-sr/srtk_plugin_sr/cross_encoder.py",
    ],
    # cells alone
    "openpyxl.load_workbook": ["plugins/srtk-plugin-local/srtk_plugin_local/snapshot/containers.py"],
    # tensors that were read safely before
    "optimizer.load_state_dict": ["plugins/srtk-plugin-septa/srtk_plugin_septa/option_checkpoint.py"],
    # columns alone
    "pyarrow.parquet.ParquetFile": [
        "plugins/srtk-plugin-datasets/srtk_plugin_datasets/files.py",
        "plugins/srtk-plugin-local/srtk_plugin_local/snapshot/arrow_texts.py",
        "plugins/srtk-plugin-local/srtk_plugin_local/snapshot/tools/rows.py",
    ],
    # a server, or a folder only if SRTK_TRUST allows it
    "qdrant_client.QdrantClient": ["plugins/srtk-plugin-qdrant/srtk_plugin_qdrant/store.py"],
    # tensors alone
    "safetensors.numpy.load_file": [
        "plugins/srtk-plugin-embedding/srtk_plugin_embedding/model.py",
        "plugins/srtk-plugin-graph-reader/srtk_plugin_graph_reader/model.py",
        "plugins/srtk-plugin-onnx/srtk_plugin_onnx/model_source.py",
        "plugins/srtk-plugin-septa/srtk_plugin_septa/model_files.py",
        "plugins/srtk-plugin-sr/srtk_plugin_sr/head.py",
    ],
    # tensors alone
    "safetensors.safe_open": ["plugins/srtk-plugin-training/srtk_plugin_training/lightning_fit.py"],
    # tensors alone
    "safetensors.torch.load_file": ["plugins/srtk-plugin-transformers/srtk_plugin_transformers/encoder_model.py"],
    # tensors that were read safely before
    "self._encoder.model.load_state_dict": ["plugins/srtk-plugin-transformers/srtk_plugin_transformers/encoder.py"],
    # tensors that were read safely before
    "self.head.load_state_dict": ["plugins/srtk-plugin-septa/srtk_plugin_septa/fine_tuning.py"],
    # components of installed packages; weights without pickles
    "spacy.load": ["plugins/srtk-plugin-spacy/srtk_plugin_spacy/models.py"],
    # the Python that a recipe names
    "spec.loader.exec_module": ["srtk_framework/host/class_path.py"],
    # no extension is loaded
    "sqlite3.connect": [
        "plugins/srtk-plugin-local/srtk_plugin_local/snapshot/containers.py",
        "plugins/srtk-plugin-rel/srtk_plugin_rel/index_builder.py",
        "plugins/srtk-plugin-rel/srtk_plugin_rel/title_index.py",
        "plugins/srtk-plugin-web/srtk_plugin_web/cache.py",
        "srtk_framework/cli/doctor.py",
    ],
    # this framework, or a server of the tests
    "subprocess.Popen": [
        "plugins/srtk-plugin-local/srtk_plugin_local/snapshot/parser_process.py",
        "srtk_framework/testing/oxigraph.py",
    ],
    # this framework, or a server of the tests
    "subprocess.run": [
        "plugins/srtk-plugin-answers/srtk_plugin_answers/demo_command.py",
        "srtk_framework/testing/base.py",
        "srtk_framework/testing/second_process.py",
    ],
    # JSON
    "tokenizers.Tokenizer.from_file": [
        "plugins/srtk-plugin-onnx/srtk_plugin_onnx/onnx_model.py",
        "plugins/srtk-plugin-sr/srtk_plugin_sr/cross_encoder.py",
    ],
    # weights_only=True, as a test below checks
    "torch.load": ["plugins/srtk-plugin-training/srtk_plugin_training/lightning_fit.py"],
    # safetensors and no code of the folder, unless SRTK_TRUST allows them
    "transformers.AutoConfig.from_pretrained": [
        "plugins/srtk-plugin-transformers/srtk_plugin_transformers/torch_settings.py"
    ],
    # safetensors and no code of the folder, unless SRTK_TRUST allows them
    "transformers.AutoModel.from_pretrained": [
        "plugins/srtk-plugin-transformers/srtk_plugin_transformers/trainable_module.py"
    ],
    # safetensors and no code of the folder, unless SRTK_TRUST allows them
    "transformers.AutoModelForSequenceClassification.from_pretrained": [
        "plugins/srtk-plugin-sr/srtk_plugin_sr/cross_encoder.py"
    ],
    # safetensors and no code of the folder, unless SRTK_TRUST allows them
    "transformers.AutoTokenizer.from_pretrained": [
        "plugins/srtk-plugin-transformers/srtk_plugin_transformers/encoder_model.py",
        "plugins/srtk-plugin-transformers/srtk_plugin_transformers/torch_settings.py",
    ],
    # tensors that were read safely before
    "whole.get_encoder().load_state_dict": [
        "plugins/srtk-plugin-transformers/srtk_plugin_transformers/trainable_module.py"
    ],
    # operations of llama.cpp
    "xllamacpp.CommonParams": ["plugins/srtk-plugin-llama-cpp/srtk_plugin_llama_cpp/runtime.py"],
    # operations of llama.cpp
    "xllamacpp.Server": ["plugins/srtk-plugin-llama-cpp/srtk_plugin_llama_cpp/runtime.py"],
    # no entity of a file is read
    "xml.etree.ElementTree.TreeBuilder": ["plugins/srtk-plugin-datasets/srtk_plugin_datasets/webnlg.py"],
    # no entity of a file is read
    "xml.etree.ElementTree.fromstring": ["plugins/srtk-plugin-evaluation/srtk_plugin_evaluation/inline_svg.py"],
    # SafeLoader: plain data
    "yaml.SafeLoader": ["srtk_framework/text/yaml_data.py"],
    # SafeLoader: plain data
    "yaml.compose": ["srtk_framework/text/yaml_data.py"],
}
"""Files that use what can load a file, by its name; the comment says why each is safe."""


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield the full names of all that a module uses, whatever it calls them."""
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                aliases[one.asname or one.name.partition(".")[0]] = (
                    one.name if one.asname else one.name.partition(".")[0]
                )
                yield one.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for one in node.names:
                aliases[one.asname or one.name] = f"{node.module}.{one.name}"
                yield f"{node.module}.{one.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in aliases:
            yield node.id
        elif isinstance(node, ast.Attribute):
            first, dot, rest = ast.unparse(node).partition(".")
            yield aliases.get(first, first) + dot + rest


def sources() -> Iterator[tuple[str, ast.AST]]:
    files = [*(ROOT / "srtk_framework").rglob("*.py"), *ROOT.glob("plugins/srtk-plugin-*/srtk_plugin_*/**/*.py")]
    for file in sorted(files):
        yield file.relative_to(ROOT).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def test_every_call_that_loads_a_file_is_known() -> None:
    found: dict[str, list[str]] = {}
    for file, tree in sources():
        for name in sorted(set(names_in(tree))):
            if LOADS.fullmatch(name):
                found.setdefault(name, []).append(file)
    assert found == KNOWN, "add the load path to KNOWN with the reason why it is safe, and plant a file for it below"


@pytest.mark.parametrize(
    "source",
    [
        "import pickle as p\np.loads(b'')",
        "from torch import load\nload(1)",
        "x = __import__",
        "import dill",
        "eval('1')",
        "from yaml import unsafe_load",
        "a.b(c).from_pretrained(d)",
        "import numpy as n\nn.load",
        "import runpy",
    ],
)
def test_the_search_finds_a_load_by_any_name(source: str) -> None:
    assert any(map(LOADS.fullmatch, names_in(ast.parse(source))))


@pytest.mark.parametrize(
    ("call", "keyword", "value"),
    [
        ("torch.load", "weights_only", True),
        ("trainer.fit", "weights_only", True),
        ("np.load", "allow_pickle", False),
        ("bm25s.BM25.load", "allow_pickle", False),
    ],
)
def test_each_load_that_could_unpickle_says_that_it_does_not(call: str, keyword: str, value: bool) -> None:
    calls = [
        node
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == call
    ]
    assert calls
    for node in calls:
        given = {one.arg: ast.unparse(one.value) for one in node.keywords}
        assert given.get(keyword) == str(value), ast.unparse(node)


class Planted:
    """Writes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.marker,)


def planted_array(marker: Path) -> bytes:
    content = io.BytesIO()
    array = np.empty(1, dtype=object)
    array[0] = Planted(marker)
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def planted_torch(file: Path, marker: Path) -> None:
    torch = pytest.importorskip("torch")
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"srtk": Planted(marker), "state_dict": {}, "network": {}, "progress": {}}, file)


def fit_again(folder: Path, marker: Path) -> None:
    from srtk_plugin_training import fit

    planted_torch(folder / "checkpoints" / "epoch-000001.ckpt", marker)
    fit(SimpleNamespace(on_load_checkpoint=dict), folder, None)


def resume_options(folder: Path, marker: Path) -> None:
    from srtk_plugin_septa.option_checkpoint import resumed

    planted_torch(folder / "checkpoints" / "options.ckpt", marker)
    resumed(folder, None, None)


def run_fit_again(folder: Path, marker: Path) -> None:
    lightning = pytest.importorskip("lightning")
    from lightning.pytorch.demos.boring_classes import BoringModel
    from srtk_plugin_training.lightning_fit import run_fit

    planted_torch(folder / "epoch.ckpt", marker)
    trainer = lightning.Trainer(logger=False, barebones=True, max_epochs=1)
    run_fit(trainer, BoringModel(), folder / "epoch.ckpt")


def entries(folder: Path, marker: Path) -> None:
    from srtk_plugin_index.indexes import entry_file

    for name in (entry_file.OFFSETS, entry_file.RANKS):
        (folder / name).write_bytes(planted_array(marker))
    (folder / entry_file.LINES).write_text("", encoding="utf-8")
    entry_file.EntryFile(folder)


def words(folder: Path, marker: Path) -> None:
    bm25s = pytest.importorskip("bm25s")
    from srtk_plugin_index.indexes.bm25 import Bm25Index

    ranker = bm25s.BM25()
    ranker.index(([[0, 1]], {"a": 0, "b": 1}), create_empty_token=False, show_progress=False)
    ranker.save(folder, show_progress=False)
    for file in folder.glob("*.npy"):
        file.write_bytes(planted_array(marker))
    Bm25Index(path=str(folder)).map(folder, None)  # type: ignore[arg-type]


def rules(folder: Path, marker: Path) -> None:
    from srtk_plugin_patterns import rules as module

    facts = {"format": module._FORMAT, **dict.fromkeys(module._FACTS, ())}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("path_head.npy", planted_array(marker))
    write_model(folder / "rules.json", facts, {"rules.npz": content.getvalue()})
    module.Rules.load(folder)


def relation_vectors(folder: Path, marker: Path) -> None:
    from srtk_plugin_sr import vectors

    (folder / "a.npy").write_bytes(planted_array(marker))
    vectors.VectorStore(folder, "planted")._read(folder)


def weights(folder: Path, marker: Path) -> None:
    from srtk_plugin_onnx.model_source import read_weights

    (folder / "model.safetensors").write_bytes(pickle.dumps(Planted(marker)))
    read_weights([folder / "model.safetensors"], "planted")


def septa_model(folder: Path, marker: Path) -> None:
    from srtk_plugin_septa.model_files import load_model

    write_model(folder / "a.json", {"a": 1}, {"a.safetensors": pickle.dumps(Planted(marker))})
    load_model(folder / "a.json")


def hub_model(folder: Path, marker: Path, **allowed: bool) -> None:
    pytest.importorskip("transformers")
    from srtk_plugin_transformers.encoder import TransformersEncoder

    code = f"from pathlib import Path\nPath({str(marker)!r}).touch()\nclass Mine: pass\n"
    (folder / "mine.py").write_text(code, encoding="utf-8")
    names = dict.fromkeys(("AutoConfig", "AutoModel", "AutoTokenizer"), "mine.Mine")
    config = json.dumps({"model_type": "mine", "auto_map": names})
    for name in ("config.json", "tokenizer_config.json"):
        (folder / name).write_text(config, encoding="utf-8")
    planted_torch(folder / "pytorch_model.bin", marker)
    if not allowed:
        (folder / "model.safetensors").write_bytes(pickle.dumps(Planted(marker)))
    TransformersEncoder(model=str(folder), **allowed).open()


def hub_model_by_recipe(folder: Path, marker: Path) -> None:
    hub_model(folder, marker, unsafe_weights=True, trust_remote_code=True)


def qdrant_folder(folder: Path, marker: Path) -> None:
    qdrant = pytest.importorskip("qdrant_client")
    from srtk_plugin_qdrant.index import QdrantIndex

    client = qdrant.QdrantClient(path=str(folder / "q"), force_disable_check_same_thread=True)
    client.create_collection("srtk", vectors_config=qdrant.models.VectorParams(size=1, distance="Cosine"))
    client.upsert("srtk", [qdrant.models.PointStruct(id=1, vector=[1.0])])
    client.close()
    import sqlite3

    with sqlite3.connect(folder / "q/collection/srtk/storage.sqlite") as db:
        db.execute("UPDATE points SET point = ?", (pickle.dumps(Planted(marker)),))
    db.close()
    QdrantIndex(encoder=None, path=str(folder / "q")).open()  # type: ignore[arg-type]


def spacy_folder(folder: Path, marker: Path) -> None:
    spacy = pytest.importorskip("spacy")
    from srtk_plugin_spacy.models import load

    spacy.blank("en").to_disk(folder / "m")
    (folder / "m/vocab/vectors").write_bytes(planted_array(marker))
    for name in ("tokenizer", "vocab/lookups.bin", "vocab/key2row"):
        (folder / "m" / name).write_bytes(pickle.dumps(Planted(marker)))
    load(str(folder / "m"), ())


def recipe(folder: Path, text: str) -> None:
    file = folder / "recipe.yaml"
    file.write_text(f"srtk: 1\nquestions: q.txt\n{text}\n", encoding="utf-8")
    if main(["check", str(file)]):
        raise SrtkError("refused")


def yaml_tag(folder: Path, marker: Path) -> None:
    recipe(folder, f"description: !!python/object/apply:os.system ['touch {marker}']")


PLANTED = [fit_again, run_fit_again, resume_options, entries, words, rules, relation_vectors, weights, septa_model]
PLANTED += [hub_model, hub_model_by_recipe, qdrant_folder, spacy_folder, yaml_tag]


@pytest.mark.parametrize("load", PLANTED, ids=lambda load: load.__name__)
def test_a_planted_file_is_refused_and_runs_nothing(
    load: Callable[[Path, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SRTK_TRUST", raising=False)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(Exception) as caught:  # noqa: PT011  each library refuses in its way
        load(folder, tmp_path / "marker")
    assert not (tmp_path / "marker").exists()
    assert not isinstance(caught.value, TypeError | AttributeError | ImportError), caught.value


@pytest.mark.parametrize(("load", "kind"), [(qdrant_folder, "qdrant-folder"), (hub_model_by_recipe, "both")])
def test_a_planted_file_runs_where_the_user_allows_it(
    load: Callable[[Path, Path], None], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SRTK_TRUST", "remote-code,unsafe-weights" if kind == "both" else kind)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(Exception):  # noqa: B017, PT011  what is planted is no model
        load(folder, tmp_path / "marker")
    assert (tmp_path / "marker").exists()
