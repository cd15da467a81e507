from __future__ import annotations

import logging
import warnings
import zipfile

import pytest
from srtk_plugin_training import lightning_fit, missing_packages, require_packages
from srtk_plugin_training.lightning_fit import (
    newest_checkpoint,
    quiet_lightning,
    read_best,
    read_checkpoint,
    run_fit,
    save_best,
)

from srtk_framework.values import DriverError


def test_nothing_is_asked_for_where_the_packages_of_training_are_installed():
    require_packages("srtk-plugin-sr", "attrs", "numpy")
    assert not missing_packages("srtk-plugin-sr", "attrs")


@pytest.mark.parametrize("missing", [["lightning"], ["lightning", "torch"]])
def test_the_missing_packages_are_named_with_the_extra(monkeypatch, missing):
    monkeypatch.setattr(lightning_fit, "find_spec", lambda name: None if name in missing else name)
    said = f"training needs {' and '.join(missing)}; run: pip install 'srtk-plugin-sr[train]'"
    assert missing_packages("srtk-plugin-sr", "lightning", "torch") == [said]
    with pytest.raises(DriverError) as caught:
        require_packages("srtk-plugin-sr", "lightning", "torch")
    assert str(caught.value) == said


def test_the_last_whole_checkpoint_is_resumed_from(tmp_path):
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    assert newest_checkpoint(tmp_path) is None
    for name in ("round-000001.ckpt", "round-000002.ckpt"):
        with zipfile.ZipFile(folder / name, "w") as file:
            file.writestr("a", "b")
    (folder / "round-000003.ckpt").write_bytes(b"PK\x03\x04 cut short")
    assert newest_checkpoint(tmp_path) == folder / "round-000002.ckpt"


def test_ctrl_c_stays_ctrl_c():
    class Stopped:
        def fit(self, module, ckpt_path, weights_only):
            raise SystemExit(1)

    with pytest.raises(KeyboardInterrupt):
        run_fit(Stopped(), None, None)


def test_warnings_are_silent_and_levels_come_back():
    logger = logging.getLogger("lightning.pytorch")
    before = logger.level
    with warnings.catch_warnings(record=True) as seen, quiet_lightning():
        warnings.warn("advice", stacklevel=1)
        assert logger.level == logging.ERROR
    assert not seen
    assert logger.level == before


def test_a_checkpoint_with_a_flipped_bit_is_refused(tmp_path):
    torch = pytest.importorskip("torch")
    file = tmp_path / "epoch.ckpt"
    torch.save({"weight": torch.arange(1000.0)}, file)
    content = bytearray(file.read_bytes())
    at = content.index(torch.arange(1000.0).numpy().tobytes()[2000:2040])
    content[at] ^= 1
    file.write_bytes(content)
    with pytest.raises(DriverError, match=r"epoch\.ckpt is damaged.*start over with --fresh"):
        read_checkpoint(file)


def test_the_best_weights_are_read_as_they_were_written_or_refused(tmp_path):
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    file = tmp_path / "best.safetensors"
    weights = {"a": torch.arange(100.0), "b": torch.tensor(1.5), "c": torch.ones(3, dtype=torch.bfloat16)}
    save_best(weights, file)
    assert all(torch.equal(one, weights[name]) for name, one in read_best(file).items())
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(DriverError, match=r"best\.safetensors: is damaged \(its checksum is another\); .*--fresh"):
        read_best(file)
    save_file(weights, file)
    with pytest.raises(DriverError, match="its checksum is another"):
        read_best(file)
