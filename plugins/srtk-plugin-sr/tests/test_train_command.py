"""``srtk train``: training of an encoder on a file of rows."""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("srtk_plugin_transformers")


from kit.kills import tree
from srtk_plugin_sr import train_command
from srtk_plugin_sr.fit_settings import ScorerFitSettings

from srtk_framework.cli import main
from srtk_framework.values import InputError

PEOPLE = [f"p{i}" for i in range(24)]
KINDS = (
    ("where was {} born", ("birth_place",)),
    ("whom did {} marry", ("spouse",)),
    ("in which land was {} born", ("birth_place", "part_of")),
    ("in which town does {} work", ("employer", "based_in")),
    ("where was the wife of {} born", ("spouse", "birth_place")),
)
WORDS = "where was born whom did marry in which land town does work the wife of is end spouse birth place employer " + (
    "part based someone , " + " ".join(PEOPLE)
)


def rows(file, people):
    """Write rows whose lists of negatives differ in length."""
    lines = []
    questions = [(text.format(person), path[0]) for person in people for text, path in KINDS]
    for i, (text, positive) in enumerate(questions):
        wrong = [other for other in ("spouse", "birth_place", "employer", "END OF HOP") if other != positive]
        lines.append({"query": f"{text} [SEP] ", "positive": positive, "negatives": wrong[: 1 + i % 3]})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_the_short_command_trains_on_rows_of_unequal_length(tiny, tmp_path, capsys):
    learn, out = rows(tmp_path / "train.jsonl", PEOPLE[:10]), tmp_path / "scorer"
    words = WORDS + " query relation : hop"
    flags = ["-t", str(learn), "-o", str(out), "-m", str(tiny(words)), "-lr", "3e-3", "--max-epochs", "8"]
    assert main(["train", *flags, "--accelerator", "cpu", "--pooling", "mean"]) == 0
    assert "accuracy 1" in capsys.readouterr().err
    from transformers import AutoModel, AutoTokenizer

    assert AutoModel.from_pretrained(out).config.hidden_size == 32
    assert AutoTokenizer.from_pretrained(out)("where was born")["input_ids"]
    assert "| max_epochs | 8 |" in (out / "README.md").read_text()


def test_the_short_command_refuses_validation_rows_that_are_training_rows(tiny, tmp_path, capsys):
    learn, check = rows(tmp_path / "a.jsonl", PEOPLE[:4]), rows(tmp_path / "b.jsonl", PEOPLE[3:6])
    assert main(["train", "-t", str(learn), "-v", str(check), "-m", str(tiny(WORDS)), "-o", str(tmp_path / "o")]) == 2
    assert "5 of 15 validation rows are also training rows" in capsys.readouterr().err


def test_a_finished_model_is_kept_and_another_takes_its_place_whole_and_only_if_asked(tiny, tmp_path, capsys):
    out = tmp_path / "o"
    flags = ["-o", str(out), "-m", str(tiny(WORDS)), "--fast-dev-run", "--accelerator", "cpu"]
    first = ["train", "-t", str(rows(tmp_path / "a.jsonl", PEOPLE[:4])), *flags]
    other = ["train", "-t", str(rows(tmp_path / "b.jsonl", PEOPLE[4:8])), *flags]
    (out / "sub").mkdir(parents=True)
    (out / "sub" / "mine.txt").write_text("kept")
    assert main(first) == 0
    assert "samples" in capsys.readouterr().err
    made = tree(out)
    assert {"model.safetensors", "README.md", "sub/mine.txt", "training/training.json"} < set(made)
    assert main(first) == 0
    assert "an earlier training of the same has finished" in capsys.readouterr().err
    assert main(other) == 2
    assert (
        "holds a finished training that differs in patience, the training rows, the validation rows; "
        in capsys.readouterr().err
    )
    assert tree(out) == made
    assert main([*other, "--fresh"]) == 0
    assert tree(out)["model.safetensors"] != made["model.safetensors"]
    assert (out / "sub" / "mine.txt").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_model_without_a_record_is_not_replaced_unasked(tiny, tmp_path, capsys):
    learn, out = rows(tmp_path / "train.jsonl", PEOPLE[:4]), tmp_path / "o"
    out.mkdir()
    (out / "config.json").write_text("{}")
    flags = ["-t", str(learn), "-o", str(out), "-m", str(tiny(WORDS)), "--fast-dev-run", "--accelerator", "cpu"]
    assert main(["train", *flags]) == 2
    assert "holds config.json, but no training.json" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["config.json"]


def test_a_second_training_in_a_folder_is_refused_with_the_number_of_the_first(tiny, tmp_path, capsys):
    learn, out = rows(tmp_path / "train.jsonl", PEOPLE[:4]), tmp_path / "o"
    flags = ["-t", str(learn), "-o", str(out), "-m", str(tiny(WORDS)), "--fast-dev-run", "--accelerator", "cpu"]
    code = "import sys; from pathlib import Path; from srtk_framework.records import workplace\n"
    code += f"with workplace(Path({str(out)!r}), ''): print('held', flush=True); sys.stdin.read()"
    holds = [sys.executable, "-c", code]
    with subprocess.Popen(holds, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "held\n"
        assert main(["train", *flags, "--fresh"]) == 2
        assert f"{out} is in use by process {first.pid}; wait until that has ended" in capsys.readouterr().err
        first.stdin.close()
    assert main(["train", *flags]) == 0


@pytest.mark.slow
def test_sigterm_stops_a_training_that_only_its_own_command_goes_on_with(tiny, tmp_path, capsys):
    learn, out = rows(tmp_path / "train.jsonl", PEOPLE[:10]), tmp_path / "scorer"
    plain = ["train", "-t", str(learn), "-m", str(tiny(WORDS)), "-lr", "3e-3", "--accelerator", "cpu", "--quiet"]
    plain += ["--patience", "99", "--max-epochs", "12"]
    flags = [*plain, "-o", str(out)]
    started = subprocess.Popen([str(Path(sys.executable).parent / "srtk"), *flags], stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 200
    while not list((out / "training").glob("checkpoints/round-00000[1-9].ckpt")):
        assert started.poll() is None, "the training ended before it could be stopped"
        assert time.monotonic() < end, "no checkpoint came"
        time.sleep(0.02)
    started.terminate()
    _, said = started.communicate(timeout=60)
    assert started.returncode == 143
    assert "srtk: terminated; the same command goes on" in said
    assert "Traceback" not in said
    kept = sorted((out / "training" / "checkpoints").iterdir())
    assert main([*flags, "--loss", "contrastive"]) == 2
    assert "holds an unfinished training that differs in loss; " in capsys.readouterr().err
    assert sorted((out / "training" / "checkpoints").iterdir()) == kept
    (out / "training" / "checkpoints" / "round-000099.ckpt").write_bytes(kept[-1].read_bytes()[:1000])
    assert main(flags) == 0
    assert len(list((out / "training").glob("log/*"))) == 2
    assert main([*plain, "-o", str(tmp_path / "whole")]) == 0
    name = "model.safetensors"
    assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.slow
def test_two_devices_train_in_parallel(tiny, tmp_path):
    learn, out = rows(tmp_path / "train.jsonl", PEOPLE[:10]), tmp_path / "scorer"
    flags = ["-t", learn, "-o", out, "-m", tiny(WORDS), "-lr", "3e-3", "--max-epochs", "4", "--batch-size", "4"]
    command = [str(Path(sys.executable).parent / "srtk"), "train", *map(str, flags), "--accelerator", "cpu"]
    done = subprocess.run([*command, "--devices", "2"], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (out / "model.safetensors").exists()


def test_rows_that_teach_nothing_are_counted_and_left_out(tiny, tmp_path, capsys):
    learn = rows(tmp_path / "train.jsonl", PEOPLE[:10])
    useless = [("spouse", []), ("spouse", ["spouse"]), (" ", ["employer"])]
    with learn.open("a") as file:
        for positive, wrong in useless:
            file.write(json.dumps({"query": "whom [SEP] ", "positive": positive, "negatives": wrong}) + "\n")
    flags = ["-m", str(tiny(WORDS)), "-o", str(tmp_path / "o"), "--fast-dev-run", "--accelerator", "cpu"]
    assert main(["train", "-t", str(learn), *flags]) == 0
    told = capsys.readouterr().err
    sentence = "3 of 53 rows teach nothing (1 with an empty positive and 2 with no negative other than the positive)"
    assert sentence in told
    assert "in 1 of 53 rows the positive is among its negatives, where it is dropped" in told
    card = (tmp_path / "o" / "README.md").read_text()
    trained, validated = (int(part) for part in re.findall(r"Trained on (\d+) rows; (\d+)", card)[0])
    assert trained + validated == 50


@pytest.mark.parametrize(("positive", "wrong"), [("spouse", []), ("spouse", ["spouse"]), ("", ["employer"])])
def test_rows_of_which_none_teaches_are_refused(tiny, tmp_path, capsys, positive, wrong):
    learn = tmp_path / "rows.jsonl"
    learn.write_text(json.dumps({"query": "whom [SEP] ", "positive": positive, "negatives": wrong}) + "\n")
    assert main(["train", "-t", str(learn), "-m", str(tiny(WORDS)), "-o", str(tmp_path / "o")]) == 2
    assert "1 of 1 rows teach nothing" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def settings_of(*flags, validates=True, wandb=False):
    parser = argparse.ArgumentParser()
    train_command.add_arguments(parser)
    args = parser.parse_args(["-t", "rows.jsonl", *flags])
    return args, train_command._settings(args, validates, wandb)


def test_the_flags_are_the_settings_of_a_training():
    args, plain = settings_of()
    assert (args.temperature, args.max_length, args.seed, args.output_dir) == (0.07, 128, 0, "artifacts/scorer")
    assert plain == ScorerFitSettings(
        epochs=10, batch_size=16, learning_rate=5e-5, loss="cross-entropy", monitor="accuracy", patience=3
    )
    assert settings_of(validates=False)[1].patience is None
    assert settings_of(wandb=True)[1].logger == "wandb"
    quick = settings_of("--fast-dev-run")[1]
    assert (quick.epochs, quick.steps) == (1, 2)
    assert [settings_of("--devices", count)[1].strategy for count in "12"] == ["auto", "ddp"]
    losses = [settings_of("--loss", name)[1].loss for name in ("contrastive", "nt-xent", "cross-entropy")]
    assert losses == ["nt-xent", "nt-xent", "cross-entropy"]


class Places:
    """Gives each text the vector that its letter names."""

    def encode(self, texts):
        table = {"q": [1.0, 0.0], "a": [0.8, 0.6], "b": [0.6, 0.8], "c": [0.8, -0.6]}
        return np.array([table[text] for text in texts])


def test_a_row_is_right_where_the_positive_is_nearer_than_every_negative():
    rows = [("q", "a", ("b",)), ("q", "b", ("a",)), ("q", "a", ("c",)), ("q", "b", ()), ("q", "a", ("b", "c"))]
    assert train_command.accuracy(Places(), rows) == 2 / 5


def test_a_twentieth_of_the_queries_validates(tiny, tmp_path, capsys):
    learn = tmp_path / "rows.jsonl"
    row = {"positive": "spouse", "negatives": ["employer"]}
    learn.write_text("".join(json.dumps({"query": f"whom {n} [SEP] ", **row}) + "\n" for n in range(400)))
    flags = ["-m", str(tiny(WORDS)), "-o", str(tmp_path / "o"), "--fast-dev-run", "--accelerator", "cpu", "--quiet"]
    assert main(["train", "-t", str(learn), *flags]) == 0
    card = (tmp_path / "o" / "README.md").read_text()
    trained, validated = (int(part) for part in re.findall(r"Trained on (\d+) rows; (\d+)", card)[0])
    assert trained + validated == 400
    assert 10 <= validated <= 30
    assert capsys.readouterr().err == ""
    for flag in ("| quiet |", "| output_dir |", "| fresh |", "| fast_dev_run |"):
        assert flag not in card
    assert "| batch_size | 16 |" in card


def test_rows_are_read_with_the_prefixes_of_srtk_and_negatives_once(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(
        '{"query": "q", "positive": "a", "negatives": ["b", "a", "b", "c"]}\n{"query": "q", "positive": "a"}\n'
    )
    assert train_command.read_rows(str(file), quiet=True) == [
        ("query: q", "relation: a", ("relation: b", "relation: c")),
        ("query: q", "relation: a", ()),
    ]
    data = train_command.training_set(train_command.read_rows(str(file), quiet=True))
    assert data.texts == ["query: q", "relation: a", "relation: b", "relation: c"]
    assert [(one.query, one.candidates, one.targets) for one in data.samples] == [
        (0, (1, 2, 3), (1.0, 0.0, 0.0)),
        (0, (1,), (1.0,)),
    ]
    file.write_text("")
    with pytest.raises(InputError, match="there are no rows to train on"):
        train_command.read_rows(str(file))


def test_under_the_contrastive_loss_a_row_without_a_negative_teaches(tiny, tmp_path, capsys):
    learn = tmp_path / "rows.jsonl"
    rows = [{"query": f"whom {n}", "positive": ["spouse", "employer"][n % 2]} for n in range(30)]
    learn.write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ["-m", str(tiny(WORDS)), "-o", str(tmp_path / "o"), "--fast-dev-run", "--accelerator", "cpu"]
    assert main(["train", "-t", str(learn), *flags, "--loss", "contrastive"]) == 0
    assert "teach nothing" not in capsys.readouterr().err
