"""The Python client: client.py script (http URL KEY | stdio PROGRAM) mode"""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp_types import PromptReference


async def call(client, method, p):
    match method:
        case "tools/list":
            return await client.list_tools()
        case "tools/call":
            return await client.call_tool(p["name"], p["arguments"])
        case "resources/list":
            return await client.list_resources()
        case "resources/templates/list":
            return await client.list_resource_templates()
        case "resources/read":
            return await client.read_resource(p["uri"])
        case "prompts/list":
            return await client.list_prompts()
        case "prompts/get":
            return await client.get_prompt(p["name"], p["arguments"])
    return await client.complete(PromptReference(name=p["ref"]["name"]), p["argument"])


async def main(script, kind, at, *more):
    out = []
    if kind == "http":
        server = streamable_http_client(at, http_client=create_mcp_http_client(headers={"Authorization": f"Bearer {more[0]}"}))
    else:
        server = StdioServerParameters(command=at, args=["mcp"], env=dict(os.environ))
    async with Client(server, mode=more[-1]) as client:
        for step in json.load(open(script)):
            try:
                result = await call(client, step["method"], step.get("params"))
                out.append({"result": result.model_dump(by_alias=True, mode="json", exclude_none=True)})
            except MCPError as e:
                out.append({"error": {"code": e.code}})
    print(json.dumps(out))


asyncio.run(main(*sys.argv[1:]))
