import json

import pytest
from srtk_plugin_files.html import Page
from srtk_plugin_files.jsonl import JsonLines
from srtk_plugin_files.text import Text

from srtk_framework.records import read_retrievals
from srtk_framework.testing.exporter import ExporterConformance


def opened(driver):
    driver.open()
    yield driver
    driver.abort()
    driver.close()


class TestJsonLines(ExporterConformance):
    name = "jsonl"

    @pytest.fixture
    def driver(self, path):
        yield from opened(JsonLines(path=str(path)))

    @pytest.fixture
    def faulty(self, tmp_path):
        return JsonLines(path=str(tmp_path))

    def validate(self, path):
        for line in path.read_bytes().splitlines():
            json.loads(line)
        list(read_retrievals(path))


class TestText(ExporterConformance):
    name = "text"

    @pytest.fixture
    def driver(self, path):
        yield from opened(Text(path=str(path)))

    @pytest.fixture
    def faulty(self, path):
        return Text(path=str(path), templates=str(path) + ".none")


class TestPage(ExporterConformance):
    name = "html"

    @pytest.fixture
    def driver(self, path):
        yield from opened(Page(path=str(path)))

    @pytest.fixture
    def faulty(self, path):
        return Page(path=str(path), max_triples=0)
