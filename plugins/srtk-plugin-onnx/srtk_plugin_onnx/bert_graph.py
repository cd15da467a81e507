"""The ONNX graph of a BERT, written from its weights without torch (Devlin et al. 2019, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from srtk_framework.values import DriverError

if TYPE_CHECKING:
    import numpy.typing as npt

OPSET = 20  # The first version of ONNX's operators that has GELU

IR_VERSION = 10  # Of ONNX 1.16; a runtime refuses graphs of a later version than its own
ACTIVATIONS = {
    "gelu": ("Gelu", {}),
    "gelu_new": ("Gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("Gelu", {"approximate": "tanh"}),
    "relu": ("Relu", {}),
}
FAR = -1e9  # Added to the attention on padding, whose share becomes zero

PAGE = 4096  # Weights begin at pages, so that they are mapped where they lie
LARGEST = 127  # Whole numbers from -127 to 127 stand for a row or column of a product; of a row, 128 is added
SMALLEST = 1e-9  # Scale of a row of zeros

Weights = Mapping[str, "npt.NDArray[np.float32]"]


def bert_graph(config: Mapping[str, Any], stored: Weights, name: str, data: str, int8: bool) -> tuple[bytes, bytes]:
    """Write the graph from token ids and mask, both [rows, length], to ``last_hidden_state`` [rows, length, d].

    With ``int8``, products with weights are of whole numbers of 8 bits. Each token has a scale of its own, so that the
    states of a text depend on no other text; each column of a matrix has one (vector-wise quantization of LLM.int8(),
    Dettmers et al. 2022, without its outliers).

    Return the graph, and the content of the file ``data`` beside it that has its weights.

    Raises:
        DriverError: If the model is a BERT of another kind, or weights are missing.
    """
    graph = _Graph({_plain(key): value for key, value in stored.items()}, name, int8)
    activation = config.get("hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise DriverError(f"model {name!r} has the activation {activation!r}; use: onnx knows {sorted(ACTIVATIONS)}")
    if (kind := config.get("position_embedding_type", "absolute")) != "absolute" or config.get("is_decoder"):
        raise DriverError(f"model {name!r} is a decoder or has {kind} positions; set use: transformers")
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])
    epsilon = float(config.get("layer_norm_eps", 1e-12))
    hidden = _embedded(graph, epsilon)
    mask = graph.add("Unsqueeze", "attention_mask", graph.ints("mask_axes", [1, 2]))
    away = graph.add("Sub", graph.floats("one", [1.0]), graph.add("Cast", mask, to=1))
    bias = graph.add("Mul", away, graph.floats("far", [FAR]))
    for layer in range(int(config["num_hidden_layers"])):
        hidden = _layer(graph, f"encoder.layer.{layer}.", hidden, bias, heads, width, epsilon, ACTIVATIONS[activation])
    graph.add("Identity", hidden, output="last_hidden_state")
    return graph.written(width, data)


def _plain(key: str) -> str:
    """Return the name of a weight without the prefix of a model with a head, in today's spelling."""
    key = key.removeprefix("bert.")
    return key.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _embedded(graph: _Graph, epsilon: float) -> str:
    """Add the sum of word, position and type embeddings, normalised."""
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    length = graph.add("Shape", "input_ids", start=1, end=2)
    start = graph.ints("start", [0])
    # All texts are of type 0, whose one row is added to each position once, here.
    places = graph.stored("embeddings.position_embeddings.weight")
    types = graph.stored("embeddings.token_type_embeddings.weight")
    table = graph.made("embeddings.places", places + types[0])
    return graph.norm(
        "embeddings.LayerNorm", graph.add("Add", words, graph.add("Slice", table, start, length)), epsilon
    )


def _layer(
    graph: _Graph,
    prefix: str,
    hidden: str,
    bias: str,
    heads: int,
    width: int,
    epsilon: float,
    activation: tuple[str, Mapping[str, Any]],
) -> str:
    """Add one layer: attention and a network of two linear maps, each with a residual and a normalisation."""
    attention = f"{prefix}attention."
    parts = [f"{attention}self.{part}" for part in ("query", "key", "value")]
    matrix = np.concatenate([graph.stored(f"{part}.weight") for part in parts]).T
    offset = np.concatenate([graph.stored(f"{part}.bias") for part in parts])
    scale = np.ones(3 * width, dtype=np.float32)
    scale[:width] /= np.sqrt(width // heads)
    joined = graph.add(
        "Add",
        graph.product(hidden, f"{attention}matrix", matrix * scale),
        graph.made(f"{attention}offset", offset * scale),
    )
    split = graph.add("Reshape", joined, graph.ints("split", [0, 0, 3, heads, width // heads]))
    turned = graph.add("Transpose", split, perm=[2, 0, 3, 1, 4])  # [3, rows, heads, length, width of a head]
    query, key, value = (graph.add("Gather", turned, graph.ints(f"part{i}", i), axis=0) for i in range(3))
    likeness = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    shares = graph.add("Softmax", graph.add("Add", likeness, bias), axis=-1)
    seen = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    seen = graph.linear(f"{attention}output.dense", graph.add("Reshape", seen, graph.ints("join", [0, 0, width])))
    hidden = graph.norm(f"{attention}output.LayerNorm", graph.add("Add", seen, hidden), epsilon)
    operator, settings = activation
    inner = graph.add(operator, graph.linear(f"{prefix}intermediate.dense", hidden), **settings)
    inner = graph.linear(f"{prefix}output.dense", inner)
    return graph.norm(f"{prefix}output.LayerNorm", graph.add("Add", inner, hidden), epsilon)


class _Graph:
    """Nodes and weights of a graph in the making."""

    def __init__(self, stored: Weights, name: str, int8: bool) -> None:
        self._stored = stored
        self._name = name
        self._int8 = int8
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._weights: dict[str, npt.NDArray[Any]] = {}

    def add(self, operator: str, *inputs: str, output: str = "", **settings: Any) -> str:
        """Add a node with one output, and return the output's name."""
        from onnx import helper

        output = output or f"node{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [output], **settings))
        return output

    def stored(self, name: str) -> npt.NDArray[np.float32]:
        """Return a weight of the model."""
        if name not in self._stored:
            raise DriverError(
                f"model {self._name!r}: the weights lack {name}; name a model whose weights fit its config.json"
            )
        return np.asarray(self._stored[name], dtype=np.float32)

    def weight(self, name: str) -> str:
        """Let nodes use a weight of the model as it is."""
        return self.made(name, self.stored(name))

    def made(self, name: str, values: npt.NDArray[Any]) -> str:
        """Let nodes use a weight that was computed from weights of the model."""
        self._weights[name] = np.ascontiguousarray(values)
        return name

    def ints(self, name: str, values: Any) -> str:
        """Add a constant of whole numbers."""
        return self._constant(name, np.asarray(values, dtype=np.int64))

    def floats(self, name: str, values: Any) -> str:
        """Add a constant of fractions."""
        return self._constant(name, np.asarray(values, dtype=np.float32))

    def _constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self._constants[name] = numpy_helper.from_array(values, name)
        return name

    def linear(self, name: str, value: str) -> str:
        """Add a linear map with its offset."""
        made = self.product(value, f"{name}.weight", self.stored(f"{name}.weight").T)
        return self.add("Add", made, self.weight(f"{name}.bias"))

    def product(self, value: str, name: str, matrix: npt.NDArray[np.float32]) -> str:
        """Multiply states by a matrix [in, out] of the model."""
        if not self._int8:
            return self.add("MatMul", value, self.made(name, matrix))
        scales = np.maximum(np.abs(matrix).max(axis=0), SMALLEST).astype(np.float32) / np.float32(LARGEST)
        whole = self.made(name, np.rint(matrix / scales).astype(np.int8))
        most = self.floats("largest", LARGEST)
        peak = self.add("ReduceMax", self.add("Abs", value), self.ints("last_axis", [-1]), keepdims=1)
        peak = self.add("Max", peak, self.floats("smallest", SMALLEST))
        rounded = self.add("Round", self.add("Mul", value, self.add("Div", most, peak)))
        codes = self.add("Cast", self.add("Add", rounded, self.floats("middle", LARGEST + 1)), to=2)
        zero = self._constant("zero", np.asarray(LARGEST + 1, dtype=np.uint8))
        sums = self.add("Cast", self.add("MatMulInteger", codes, whole, zero), to=1)
        # Adding codes is exact in whole numbers, so the order of a product changes no bit.
        return self.add("Mul", self.add("Mul", sums, self.add("Div", peak, most)), self.made(f"{name}.scales", scales))

    def norm(self, name: str, value: str, epsilon: float) -> str:
        """Add a layer normalisation."""
        return self.add(
            "LayerNormalization", value, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), epsilon=epsilon
        )

    def written(self, width: int, data: str) -> tuple[bytes, bytes]:
        """Return the graph, which refers to a file for its weights, and the content of that file."""
        from onnx import TensorProto, helper

        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "length"])
            for name in ("input_ids", "attention_mask")
        ]
        outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["rows", "length", width])]
        tensors, parts, end = [], [], 0
        for name, values in self._weights.items():
            start = -(-end // PAGE) * PAGE
            parts += [bytes(start - end), values.tobytes()]
            end = start + values.nbytes
            kind = helper.np_dtype_to_tensor_dtype(values.dtype)
            tensor = TensorProto(name=name, data_type=kind, dims=values.shape, data_location=TensorProto.EXTERNAL)
            for key, value in (("location", data), ("offset", start), ("length", values.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
            tensors.append(tensor)
        graph = helper.make_graph(self._nodes, "bert", inputs, outputs, [*self._constants.values(), *tensors])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        return bytes(model.SerializeToString()), b"".join(parts)
