"""What the kit says of a driver that raises something else than an error of the framework."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from srtk_framework.roles import Exporter
from srtk_framework.testing import SAMPLE, ExporterConformance, OracleGraph


@attrs.define
class Plain(Exporter):
    """Writes a file in `open`, wherever that is."""

    path: str

    def open(self):
        Path(self.path).write_text("")

    def write(self, retrievals):
        return len(retrievals)


class Checked(ExporterConformance):
    name = "plain"

    def use(self, driver):
        driver.write([])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none/out.txt", r"^FileNotFoundError: .*; raise a DriverError with the remedy in its place"),
        ("out.txt", "^the driver of the fixture `faulty` works; raise a DriverError in open or in a hook"),
    ],
)
def test_a_failure_that_is_no_driver_error_is_told_with_what_to_raise(tmp_path, path, said):
    with pytest.raises(AssertionError, match=said):
        Checked().test_a_failure_is_a_driver_error(Plain(str(tmp_path / path)))


def test_a_file_in_a_missing_folder_is_told_with_what_to_do(tmp_path):
    driver = Plain(str(tmp_path / "out.txt"))
    with pytest.raises(
        AssertionError, match=r"^FileNotFoundError for a file in a missing folder; make the folder in open"
    ):
        Checked().test_a_missing_folder_is_made_or_named(driver, tmp_path / "out.txt", [])


def test_the_oracle_graph_needs_no_opening():
    assert [frontier.size for frontier in OracleGraph(SAMPLE).frontiers([["Riga"], ["nowhere"]])] == [1, 0]
