from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import attrs
import numpy as np
import pytest

from srtk_framework.host.ports import port
from srtk_framework.roles import Corpus, Encoder, EntityLinker, Generator, Reader
from srtk_framework.values import Answer, DriverError, Entry, Link, Message, Prompt, Question, Reply, Subgraph


@attrs.define
class Recorder(Encoder):
    answer: object = None
    seen: list[list[str]] = attrs.field(factory=list)

    def encode(self, texts):
        self.seen.append(list(texts))
        if isinstance(self.answer, BaseException):
            raise self.answer
        if self.answer is not None:
            return self.answer
        return np.array([[float(len(t)), 1.0] for t in texts], dtype=np.float32)


@attrs.define
class NoAnswer(EntityLinker):
    def link(self, texts):
        return None


def test_duplicates_are_asked_once_and_spread_over_the_answer():
    driver = Recorder()
    matrix = port(driver, "encoder", "rec").encode(["aa", "b", "aa"])
    assert driver.seen == [["aa", "b"]]
    assert matrix.tolist() == [[2, 1], [1, 1], [2, 1]]


def test_an_answer_of_the_wrong_length_is_refused_by_name():
    with pytest.raises(DriverError, match="rec: encode got 2 items and returned 1"):
        port(Recorder(np.zeros((1, 2), np.float32)), "encoder", "rec").encode(["a", "b"])


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), np.full((2, 2), np.nan, np.float32), np.zeros(2, np.float32)])
def test_a_matrix_of_the_wrong_kind_is_refused(wrong):
    with pytest.raises(DriverError, match="rec: encode"):
        port(Recorder(wrong), "encoder", "rec").encode(["a", "b"])


def test_none_is_an_answer_where_the_hook_allows_it():
    assert port(Recorder(None), "encoder", "rec").weights_folder() is None


def test_the_default_of_a_stream_is_read_by_the_caller_alone():
    """What looks through the answers of a batch must not use up a stream."""

    class Two(Corpus):
        def read(self):
            yield from (Entry("a", "one"), Entry("b", "two"))

    assert [entry.id for entry, _ in port(Two(), "corpus", "two").counted()] == ["a", "b"]


def test_no_answer_is_refused():
    with pytest.raises(DriverError, match="returned None"):
        port(NoAnswer(), "entity_linker", "none").link(["a"])


def test_any_error_of_a_driver_gets_its_name():
    with pytest.raises(DriverError, match=r"rec: cannot encode: ZeroDivisionError: by nought"):
        port(Recorder(ZeroDivisionError("by nought")), "encoder", "rec").encode(["a"])
    with pytest.raises(DriverError, match=r"^rec: said so$"):
        port(Recorder(DriverError("said so")), "encoder", "rec").encode(["a"])


def test_a_driver_that_ends_the_program_fails_like_any_other():
    with pytest.raises(DriverError, match=r"rec: cannot encode: SystemExit: 3"):
        port(Recorder(SystemExit(3)), "encoder", "rec").encode(["a"])


def test_an_interrupt_passes_through():
    with pytest.raises(KeyboardInterrupt):
        port(Recorder(KeyboardInterrupt()), "encoder", "rec").encode(["a"])


@attrs.define
class Outer(EntityLinker):
    encoder: Encoder

    def link(self, texts):
        self.encoder.encode(texts)
        return [[Link("e")] for _ in texts]


@attrs.define
class Talker(Generator):
    rates_: object = None
    key: str = attrs.field(default="", repr=False)

    def generate(self, prompts):
        return [Reply(p.query, tokens_in=2, tokens_out=1, cost=0.1, cached=p.query == "old") for p in prompts]

    def rate(self, prompts):
        return self.rates_

    def rates(self):
        return True


@attrs.define
class Silent(Reader):
    def read(self, questions, subgraphs):
        return [Answer(enough=False) for _ in questions]


def asking(query, options=()):
    return Prompt((Message("user", query),), options, query=query)


def test_what_replies_took_is_counted_and_the_cached_ones_are_not_paid():
    generator = port(Talker(), "generator", "talker")
    assert [reply.text for reply in generator.generate([asking("new"), asking("old")])] == ["new", "old"]
    generator.generate([asking("old")])
    assert generator.spent == {"calls": 3, "tokens_in": 6, "tokens_out": 3, "cost": 0.3, "cached": 2, "paid": 0.1}


def test_what_threads_ask_is_counted_once_each():
    generator = port(Talker(), "generator", "talker")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: generator.generate([asking(str(i))] * 5), range(40)))
    assert (generator.spent["calls"], generator.spent["cost"]) == (200, 20.0)


@pytest.mark.parametrize("rows", [[[1.0]], [[float("nan"), 0.0]], [[float("-inf"), 0.0]], []])
def test_rates_that_do_not_fit_the_options_are_refused(rows):
    with pytest.raises(DriverError, match="talker: rate"):
        port(Talker(rows), "generator", "talker").rate([asking("x", ("a", "b"))])


def test_a_generator_that_does_not_rate_says_so_by_default():
    @attrs.define
    class Plain(Generator):
        def generate(self, prompts):
            return [Reply() for _ in prompts]

    plain = port(Plain(), "generator", "plain")
    assert plain.rates() is False
    assert list(plain.count_tokens(["two words", ""])) == [2, 0]
    with pytest.raises(DriverError, match="plain: this generator does not rate options"):
        plain.rate([asking("x", ("a",))])


def test_a_reader_is_asked_about_as_many_subgraphs_as_questions():
    reader = port(Silent(), "reader", "silent")
    assert reader.read([Question("1", "x")], [Subgraph()])[0].enough is False
    assert reader.refuses() is False
    with pytest.raises(DriverError, match="silent: read was asked about 1 questions and 0 subgraphs"):
        reader.read([Question("1", "x")], [])


def test_a_key_is_no_part_of_a_fingerprint():
    assert Talker(key="secret").fingerprint() == Talker().fingerprint()
    assert Talker(rates_=1).fingerprint() != Talker().fingerprint()


def test_a_driver_with_attrs_equality_over_arrays_can_be_registered():
    @attrs.define
    class WithArray(Encoder):
        matrix: object = attrs.field(factory=lambda: np.zeros(3))

        def encode(self, texts):
            return np.zeros((len(texts), 1), dtype=np.float32)

    assert port(WithArray(), "encoder", "array").encode(["a"]).shape == (1, 1)
