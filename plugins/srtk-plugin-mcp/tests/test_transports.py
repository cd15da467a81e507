"""The server as agents start it: over the pipes of a process, with a table."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

BFS = ["--set", "expander={use: bfs, depth: 1}", "--set", "reader=null"]


def test_an_agent_asks_a_table_over_the_pipes_of_a_process(tmp_path: Path) -> None:
    table = tmp_path / "films.csv"
    table.write_text("film,directed by\nAlien,Ridley Scott\nHeat,Michael Mann\n", encoding="utf-8")
    command = ["-m", "srtk_framework", "serve", str(table), *BFS, "--mcp"]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    async def talk() -> tuple[list[str], Any, Any]:
        server = StdioServerParameters(command=sys.executable, args=command, env=env)
        async with Client(stdio_client(server)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("retrieve_subgraph", {"question": "Who directed Alien?"})
            return names, found, await client.call_tool("expand_entity", {"entity": "Heat"})

    names, found, around = asyncio.run(talk())
    assert "ask" in names
    # What the build of the table logs goes to the other stream: the client would take it for a message.
    assert [fact["ids"] for fact in found.structured_content["facts"]] == [["Alien", "directed by", "Ridley Scott"]]
    assert [fact["ids"] for fact in around.structured_content["facts"]] == [["Heat", "directed by", "Michael Mann"]]
