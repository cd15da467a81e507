"""Vectors that are kept between runs."""

import io
import multiprocessing
import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_sr.vectors import VectorStore, default_folder, unit

from srtk_framework.values import DriverError


def vectors_of(texts):
    rows = [[len(text) + 1, sum(map(ord, text)) % 7, 1.0] for text in texts]
    return unit(np.array(rows).reshape(len(rows), 3))


def filled(folder, texts, fingerprint="one"):
    store = VectorStore(folder, fingerprint)
    missing = store.missing(texts)
    store.add(missing, vectors_of(missing))
    store.save()
    return store


def test_a_second_store_finds_what_the_first_kept(tmp_path):
    filled(tmp_path, ["a", "b"])
    second = VectorStore(tmp_path, "one")
    assert second.missing(["a", "c", "b"]) == ["c"]
    assert (second.rows(["b", "a"]) == vectors_of(["b", "a"])).all()


def test_vectors_of_several_files_are_found(tmp_path):
    for some in (["a", "b"], ["c"], ["b", "d", "e"]):
        filled(tmp_path, some)
    store = VectorStore(tmp_path, "one")
    assert store.kept == 5
    assert store.missing(["e", "x", "c", "a", "d", "b", "y"]) == ["x", "y"]
    assert (store.rows(list("edcba")) == vectors_of(list("edcba"))).all()


def test_files_are_mapped_and_not_read(tmp_path):
    filled(tmp_path, ["a"])
    [content] = VectorStore(tmp_path, "one")._files
    assert isinstance(content, np.memmap)


def test_a_text_whose_hash_begins_as_that_of_another_is_not_taken_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr("srtk_plugin_sr.vectors._key", lambda text: b"same head" + text.encode().ljust(23))
    filled(tmp_path, ["a"])
    assert VectorStore(tmp_path, "one").missing(["b", "a"]) == ["b"]


def test_another_encoder_finds_nothing(tmp_path):
    filled(tmp_path, ["a"])
    assert VectorStore(tmp_path, "two").missing(["a"]) == ["a"]


def test_a_store_without_folder_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filled(None, ["a"])
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_twice(tmp_path):
    filled(tmp_path, ["a", "b"])
    files = sorted(tmp_path.rglob("*.npy"))
    filled(tmp_path, ["b", "a"])
    assert sorted(tmp_path.rglob("*.npy")) == files


def test_a_damaged_file_is_refused_with_its_path(tmp_path):
    filled(tmp_path, ["a"])
    file = next(tmp_path.rglob("*.npy"))
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(DriverError, match=r"npy: is damaged .*; delete it, .* doctor"):
        VectorStore(tmp_path, "one")


def test_a_flipped_bit_of_a_vector_is_refused_and_of_a_key_changes_nothing(tmp_path):
    filled(tmp_path, ["a"])
    (file,) = tmp_path.rglob("*.npy")
    whole = file.read_bytes()
    content = np.load(file)
    content["vector"][0, 0] += 1e-3
    np.save(file, content)
    with pytest.raises(DriverError, match="a vector is not the one that was kept; delete it, or run `srtk doctor"):
        VectorStore(tmp_path, "one").missing(["a"])
    content = np.load(io.BytesIO(whole))
    content["key"][0] = b"another"
    np.save(file, content)
    assert VectorStore(tmp_path, "one").missing(["a"]) == ["a"]


def test_a_file_of_another_encoder_is_refused(tmp_path):
    filled(tmp_path, ["a"])
    (file,) = tmp_path.rglob("*.npy")
    other = VectorStore(tmp_path, "two")
    other.folder.mkdir(parents=True)
    file.rename(other.folder / file.name)
    with pytest.raises(DriverError, match="a vector is not the one that was kept"):
        VectorStore(tmp_path, "two").missing(["a"])


def test_a_file_of_something_else_is_refused(tmp_path):
    filled(tmp_path, ["a"])
    np.save(next(tmp_path.rglob("*.npy")), np.zeros(3))
    with pytest.raises(DriverError, match="does not hold relation vectors"):
        VectorStore(tmp_path, "one")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DriverError, match='set cache of the scorer to another folder, or to "" for none'):
        filled(tmp_path / "file", ["a"])


def test_an_encoder_that_changes_its_width_is_refused(tmp_path):
    store = filled(tmp_path, ["a"])
    with pytest.raises(DriverError, match="vectors of 2 numbers after vectors of 3"):
        store.add(["b"], np.ones((1, 2), dtype=np.float32))


def test_no_unfinished_file_is_left(tmp_path):
    filled(tmp_path, ["a"])
    assert [file.suffix for file in tmp_path.rglob("*") if file.is_file()] == [".npy"]


def test_what_a_killed_process_left_is_removed_and_what_another_is_writing_stays(tmp_path):
    folder = filled(tmp_path, ["a"]).folder
    killed, writing = folder / ".killed.part", folder / ".writing.part"
    killed.write_bytes(b"half")
    writing.write_bytes(b"half")
    os.utime(killed, (0, 0))
    filled(tmp_path, ["b"])
    assert [path.name for path in folder.glob(".*")] == [".writing.part"]
    assert len(list(folder.glob("*.npy"))) == 2


def write_some(folder, number):
    filled(folder, [f"text {i}" for i in range(number, number + 40)])


def test_processes_that_share_a_folder_do_not_harm_each_other(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_some, args=(tmp_path, 10 * i)) for i in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store = VectorStore(tmp_path, "one")
    texts = [f"text {i}" for i in range(60)]
    assert store.missing(texts) == []
    assert (store.rows(texts) == vectors_of(texts)).all()


@given(st.lists(st.lists(st.text(max_size=5), max_size=6), max_size=6))
def test_rows_are_those_of_their_texts_in_whatever_order_they_came(batches):
    store = VectorStore(None, "one")
    for batch in batches:
        missing = store.missing(batch)
        store.add(missing, vectors_of(missing))
    every = [text for batch in batches for text in batch]
    if every:
        assert (store.rows(every) == vectors_of(every)).all()


def test_a_row_of_zeros_stays_zero():
    assert unit(np.zeros((1, 4))).tolist() == [[0.0] * 4]


def test_the_cache_folder_is_that_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "srtk-framework"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "srtk-framework"


def test_vectors_are_written_when_there_are_many_and_rows_have_key_and_checksum(tmp_path, monkeypatch):
    monkeypatch.setattr("srtk_plugin_sr.vectors._WRITE_AT", 3)
    store = VectorStore(tmp_path, "one")
    assert store.row_bytes == 0
    store.add(["a", "b"], vectors_of(["a", "b"]))
    assert store.row_bytes == 32 + 3 * 4 + 4
    assert not list(tmp_path.rglob("*.npy"))
    store.add(["b", "c"], vectors_of(["b", "c"]))
    assert len(list(tmp_path.rglob("*.npy"))) == 1
    store.save()
    assert len(list(tmp_path.rglob("*.npy"))) == 1
    assert VectorStore(tmp_path, "one").missing(["a", "b", "c", "d"]) == ["d"]


def test_a_store_grows_and_keeps_what_it_has():
    store = VectorStore(None, "one")
    for part in range(5):
        texts = [f"{part} {n}" for n in range(200)]
        store.add(texts, vectors_of(texts))
    every = [f"{part} {n}" for part in range(5) for n in range(200)]
    assert (store.rows(every) == vectors_of(every)).all()


@pytest.mark.parametrize(("age", "stays"), [(3500, True), (3700, False)])
def test_a_part_of_an_hour_has_lost_its_writer(tmp_path, age, stays):
    folder = filled(tmp_path, ["a"]).folder
    part = folder / ".some.part"
    part.write_bytes(b"half")
    then = time.time() - age
    os.utime(part, (then, then))
    filled(tmp_path, ["b"])
    assert part.exists() is stays
