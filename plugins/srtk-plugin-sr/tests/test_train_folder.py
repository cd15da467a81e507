"""The folder of ``srtk train``: whose unfinished training it holds."""

import pytest
from srtk_plugin_sr.train_folder import NAME, claim_folder, release_folder

from srtk_framework.values import RunError


def test_fresh_starts_an_unfinished_training_over_and_a_finished_one_is_replaced_unasked(tmp_path):
    folder = tmp_path / "training"
    checkpoint = folder / "checkpoints" / "round-000001.ckpt"

    def begun(inputs, fresh=False):
        claim_folder(folder, inputs, fresh)
        kept = checkpoint.exists()
        checkpoint.parent.mkdir(exist_ok=True)
        checkpoint.write_text("")
        return kept

    assert not begun({"seed": "0"})
    assert begun({"seed": "0"})
    with pytest.raises(RunError, match=r"differs in loss, seed; .* or start over with --fresh"):
        begun({"seed": "1", "loss": "nt-xent"})
    assert not begun({"seed": "0"}, fresh=True)
    assert not begun({"seed": "1"}, fresh=True)
    release_folder(folder, {"seed": "1"})
    assert not begun({"seed": "2"})


@pytest.mark.parametrize("content", ["{", "[]", '{"inputs": 1}'])
def test_a_file_that_is_no_record_of_a_training_is_not_overwritten(tmp_path, content):
    (tmp_path / NAME).write_text(content)
    with pytest.raises(RunError, match=r"training\.json.*; move this file away"):
        claim_folder(tmp_path, {"seed": "0"}, True)
    assert (tmp_path / NAME).read_text() == content
