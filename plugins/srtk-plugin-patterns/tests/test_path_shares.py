"""Probabilities of how a path goes on: golden values, a reference in plain Python, laws, and their tuning."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_patterns.path_shares import POWERS, PathLesson, PathShares, Tuning, learn, tune

from srtk_framework.values import END, Path, Step

A, B, C, NEW = Step("a"), Step("b"), Step("c", True), Step("new")
NONE: frozenset[str] = frozenset()


def lesson(*steps: Step, weight: float = 1.0, words: str = "") -> PathLesson:
    return PathLesson(steps, weight, frozenset(words.split()))


def probabilities(shares: PathShares, path: Path, candidates: Sequence[Step], words: str = "") -> list[float]:
    return [math.exp(log) for log in shares.logs(path, candidates, sorted(words.split()))]


FOUR = [lesson(A, B), lesson(A, B), lesson(A, B), lesson(A, C)]


def test_the_share_of_a_step_is_mixed_with_its_shares_in_wider_contexts() -> None:
    shares = PathShares(learn(FOUR))
    # Uniform 1/4; anywhere (3 + 4/4) / 16; at this depth (3 + 2 * 1/4) / 6; after this path likewise.
    at_depth = (3 + 2 * 0.25) / 6
    after = (3 + 2 * at_depth) / 6
    assert probabilities(shares, (A,), [B]) == pytest.approx([after])
    # After an unseen path of one step, what is known is the depth.
    assert probabilities(shares, (B,), [B]) == pytest.approx([at_depth])


def test_a_path_that_always_went_on_is_unlikely_to_end_and_one_that_ended_to_go_on() -> None:
    shares = PathShares(learn(FOUR))
    on, end = probabilities(shares, (A,), [B, END])
    assert end < 0.05 < on
    on, end = probabilities(shares, (A, B), [B, END])
    assert on < 0.2 < 0.5 < end


def test_an_unseen_step_is_less_likely_than_any_seen_one_and_as_likely_as_another() -> None:
    shares = PathShares(learn(FOUR))
    seen, other, new, inverse = probabilities(shares, (), [A, C, NEW, Step("a", True)])
    assert seen > other > new == inverse > 0


def test_a_longer_context_counts_less_where_it_was_seen_less() -> None:
    often = PathShares(learn([*FOUR, *[lesson(C, B)] * 20]))
    once = PathShares(learn([*FOUR, lesson(C, B)]))
    assert probabilities(often, (C,), [B]) > probabilities(once, (C,), [B])


def test_the_last_step_at_a_depth_serves_a_path_that_was_not_seen() -> None:
    shares = PathShares(learn([lesson(A, B, C), lesson(A, C, A)]))
    # b was second once, and then came c.
    assert probabilities(shares, (C, B), [C]) > probabilities(shares, (C, A), [C])


@pytest.mark.parametrize("words", ["", "who born", "who died"])
def test_words_multiply_by_their_shares_and_the_products_are_divided_by_their_sum(words: str) -> None:
    lessons = [lesson(A, words="who born"), lesson(A, words="born"), lesson(B, words="who died when")]
    heard = sorted(words.split())
    shares, plain = PathShares(learn(lessons)), PathShares(learn(lessons))
    all_ = {"who": 2, "born": 2, "died": 1, "when": 1}
    tables = {A: {"who": 1, "born": 2}, B: {"who": 1, "died": 1, "when": 1}, END: all_}

    def likely(step: Step) -> float:
        product = 1.0
        for word in heard:
            share = all_[word] / 6
            # Twice: with this step anywhere, and after this path. END follows only a path.
            for _ in range(0 if step == NEW else 1 if step == END else 2):
                table = tables[step]
                share = (table.get(word, 0) + len(table) * share) / (sum(table.values()) + len(table))
            product *= share
        return product

    steps = [A, B, END, NEW]
    products = [p * likely(step) for p, step in zip(probabilities(plain, (), steps), steps, strict=True)]
    found = probabilities(shares, (), steps, words)
    assert found == pytest.approx([one / sum(products) for one in products])


def test_the_words_of_a_question_choose_among_paths() -> None:
    lessons = [lesson(A, words="who bore him"), lesson(B, words="who killed him")] * 5
    shares = PathShares(learn(lessons))
    born, killed = probabilities(shares, (), [A, B], "who killed him")
    assert killed > 0.8 > 0.2 > born
    assert shares.logs((), [A, B], ["unheard"]).tolist() == shares.logs((), [A, B]).tolist()


def test_a_power_below_1_takes_back_what_words_say() -> None:
    lessons = [lesson(A, words="who bore him"), lesson(B, words="who killed him")] * 5
    found = [probabilities(PathShares(learn(lessons), power), (), [B], "killed")[0] for power in (0.0, 0.5, 1.0)]
    assert found == sorted(found)
    assert found[0] == pytest.approx(probabilities(PathShares(learn(lessons)), (), [B])[0])


STEPS = st.builds(Step, st.sampled_from("abcd"), st.booleans())
PATHS = st.lists(STEPS, min_size=1, max_size=3).map(tuple)
WORDS = st.frozensets(st.sampled_from(["who", "what", "born", "died", "him"]))
LESSONS = st.lists(st.builds(PathLesson, PATHS, st.floats(1e-6, 1e6), WORDS), min_size=1, max_size=12)


@given(LESSONS, st.lists(STEPS, max_size=4).map(tuple), st.sets(STEPS | st.just(NEW)), WORDS, st.sampled_from(POWERS))
def test_end_and_the_candidates_never_have_more_than_all_of_the_probability(
    lessons: list[PathLesson], path: Path, steps: set[Step], words: frozenset[str], power: float
) -> None:
    shares = PathShares(learn(lessons), power)
    logs = shares.logs(path, [*sorted(steps), END], sorted(words))
    assert all(math.isfinite(log) and log <= 1e-12 for log in logs)
    assert sum(math.exp(log) for log in logs) <= 1 + 1e-9
    known = sorted({step for one in lessons for step in one.steps} | steps)
    every = shares.logs(path, [*known, END], sorted(words))
    assert sum(math.exp(log) for log in every) == pytest.approx(1.0)


@given(LESSONS, st.randoms(use_true_random=False))
def test_what_is_learnt_does_not_depend_on_the_order_of_the_lessons(lessons: list[PathLesson], chance: object) -> None:
    mixed = list(lessons)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert learn(mixed) == learn(lessons)


@given(LESSONS, LESSONS)
def test_a_loss_is_that_of_the_steps_and_the_end(lessons: list[PathLesson], others: list[PathLesson]) -> None:
    for power in (0.0, 0.3, 1.0):
        shares = PathShares(learn(lessons), power)
        for one in others:
            ended = (*one.steps, END)
            logs = [shares.logs(one.steps[:i], [step], sorted(one.words))[0] for i, step in enumerate(ended)]
            assert PathShares(learn(lessons)).losses(one, [power])[0] == pytest.approx(-math.fsum(logs))


def test_words_that_say_nothing_get_the_power_0_and_words_that_decide_a_high_one() -> None:
    paths = [(A,), (B,), (C,), (A, B)]
    noise = ["red", "green", "blue", "black", "white"]
    blind = [[lesson(*paths[i % 4], words=f"{noise[i % 5]} {noise[i * 7 % 5]}")] for i in range(60)]
    telling = [[lesson(*paths[i % 4], words=f"{noise[i % 4]} word{i % 4}")] for i in range(60)]
    assert tune(blind, 0.1, 0).power < 0.2
    assert tune(telling, 0.1, 0).power > 0.5


def test_the_margin_is_exceeded_by_so_many_of_the_held_out_losses() -> None:
    questions = [[lesson(A if i % 10 else B, words="who")] for i in range(100)]
    tuning = tune(questions, 0.2, 0)
    common = PathShares(learn([one for row in questions for one in row])).losses(lesson(A, words="who"), [0.0])[0]
    rare = PathShares(learn([one for row in questions for one in row])).losses(lesson(B, words="who"), [0.0])[0]
    assert tuning.plain_margin == pytest.approx(common, abs=0.1)
    assert tune(questions, 0.05, 0).plain_margin == pytest.approx(rare, abs=0.3)


def test_of_several_paths_of_a_question_the_likeliest_has_to_be_kept() -> None:
    sure, either = [[lesson(A)]] * 30, [[lesson(A, weight=0.5), lesson(B, weight=0.5)]] * 30
    margin = tune([*sure, *either], 0.1, 0).plain_margin
    assert margin is not None
    assert margin < 1.0


def test_too_few_questions_give_no_margin() -> None:
    assert tune([[lesson(A)]], 0.05, 0) == Tuning()
    assert tune([[lesson(A)]] * 18, 0.05, 0).margin is None
    assert tune([[lesson(A)]] * 19, 0.05, 0).margin is not None


def test_of_many_questions_some_of_every_part_are_held_out() -> None:
    # The last tenth of 4,000 questions has a path of its own, which is not likely.
    questions = [[lesson(A)]] * 3600 + [[lesson(B)]] * 400
    margin = tune(questions, 0.05, 0).plain_margin
    assert margin is not None
    assert margin > 2.0


def test_a_held_out_question_does_not_predict_itself() -> None:
    alone = [[lesson(Step(f"r{i}"))] for i in range(40)]
    margin = tune(alone, 0.1, 0).plain_margin
    itself = PathShares(learn([one for row in alone for one in row])).losses(alone[0][0], [0.0])[0]
    assert margin is not None
    assert margin > itself + 0.5


def test_a_candidate_that_is_given_twice_counts_once() -> None:
    shares = PathShares(learn(FOUR))
    twice = shares.logs((), [NEW, NEW, A]).tolist()
    assert twice == [shares.logs((), [NEW, A])[0], *shares.logs((), [NEW, A]).tolist()]


def test_a_step_that_a_path_takes_twice_hears_its_question_once() -> None:
    lessons = [lesson(A, A, words="who"), lesson(A, words="what"), lesson(B, words="what")]
    # After an unseen path, words are known by the step alone: of a, one question has each word.
    shares = PathShares(learn(lessons))
    seen, new = shares.logs((C,), [A, NEW], ["who"]) - shares.logs((C,), [A, NEW])
    assert seen - new == pytest.approx(math.log((1 + 2 / 3) / (2 + 2)) - math.log(1 / 3))


def test_the_powers_rise_from_none_of_the_words_to_all_that_they_say() -> None:
    assert list(POWERS) == sorted(POWERS)
    assert (POWERS[0], POWERS[-1]) == (0.0, 1.0)


def test_two_questions_are_enough_to_choose_a_power() -> None:
    # Words say nothing of questions whose paths are all the same; then the least power is chosen.
    assert tune([[lesson(A, words="who")]] * 2, 0.05, 0) == Tuning(0.0)
    assert tune([[lesson(A, words="who")]], 0.05, 0) == Tuning(1.0)
    assert tune([], 0.05, 0) == Tuning()


def test_a_word_counts_as_often_as_its_questions_and_others_in_proportion() -> None:
    shares = PathShares(learn([lesson(A, words="who"), lesson(A, words="what"), lesson(B, words="what")]))
    # By Bayes the shares of the word after each step and in all questions, smoothed by as many as there are kinds.
    every = 1 / 3
    of_a, of_b = (1 + 2 * every) / 4, (0 + 1 * every) / 2
    after_a, after_b = (1 + 2 * of_a) / 4, (0 + 1 * of_b) / 2
    # END never follows the empty path here, and so has the words of all questions, as a new step has.
    words = [after_a, after_b, every, (1 + 2 * every) / 5]
    products = [p * q for p, q in zip(probabilities(shares, (), [A, B, NEW, END]), words, strict=True)]
    found = probabilities(shares, (), [A, B, NEW, END], "who")
    assert found == pytest.approx([one / math.fsum(products) for one in products])
