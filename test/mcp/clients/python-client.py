"""The Python client: lists tools, calls one over HTTP and one over stdio, in the era that it is told."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def use(transport, mode):
    async with Client(transport, mode=mode) as client:
        tools = await client.list_tools()
        heard = []

        async def on_progress(progress, total, message):
            heard.append(message)

        result = await client.call_tool(
            "Bash",
            {"command": "echo from-python; sleep 0.5"},
            progress_callback=on_progress,
        )
        return {
            "tools": [tool.name for tool in tools.tools],
            "text": result.content[0].text,
            "heard": heard,
        }


async def main():
    url, mode, *command = sys.argv[1:]
    headers = {"Authorization": f"Bearer {os.environ['MATRX_TOKEN']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        remote = await use(streamable_http_client(url, http_client=http), mode)
    program = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    local = await use(stdio_client(program), mode)
    print(json.dumps({"remote": remote, "local": local}))


asyncio.run(main())
