"""Builds the vendors' requests from the golden files with the vendors' own SDKs.

Each client gets a transport that keeps what would be sent and answers from here:
the request is built, checked and serialised by the SDK, and nothing leaves.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

import httpx
import httpx2
import pydantic
from agents import Agent, OpenAIResponsesModel, Runner
from anthropic import Anthropic
from anthropic.types import MessageCreateParams, TextBlockParam
from google import genai
from google.genai import types as gemini
from langchain_core.messages import HumanMessage, SystemMessage, convert_to_messages
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from mcp.types import ReadResourceResult
from openai import AsyncOpenAI, OpenAI
from openai.types.responses import ResponseInputParam

GOLDENS = Path(__file__).parent.parent / "testdata"
KEY = "none"


class Wire:
    """Keeps what a client would have sent. SDKs use one of two versions of httpx."""

    def __init__(self, answer, http=httpx):
        self.sent = []

        def reply(request):
            self.sent.append(json.loads(request.content))
            return http.Response(200, json=answer)

        transport = http.MockTransport(reply)
        self.client, self.async_client = http.Client(transport=transport), http.AsyncClient(transport=transport)

    def body(self):
        assert len(self.sent) == 1, self.sent
        return self.sent[0]


MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "ok"}],
           "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
RESPONSE = {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed", "parallel_tool_calls": False,
            "tool_choice": "auto", "tools": [],
            "output": [{"id": "o", "type": "message", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": "ok", "annotations": []}]}]}
COMPLETION = {"id": "c", "object": "chat.completion", "created": 0, "model": "m",
              "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}]}
CONTENT = {"candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}


def anthropic_system(body, prompt):
    pydantic.TypeAdapter(list[TextBlockParam]).validate_python(body)
    wire = Wire(MESSAGE, httpx2)
    request = {"model": "m", "max_tokens": 1, "system": body, "messages": [{"role": "user", "content": "go on"}]}
    pydantic.TypeAdapter(MessageCreateParams).validate_python(request)
    Anthropic(api_key=KEY, http_client=wire.client).messages.create(**request)
    assert wire.body()["system"] == body
    assert "".join(block["text"] for block in body) == prompt


def gemini_instruction(body, prompt):
    wire = Wire(CONTENT)
    instruction = gemini.Content.model_validate(body)
    client = genai.Client(api_key=KEY, http_options=gemini.HttpOptions(httpx_client=wire.client))
    client.models.generate_content(model="m", contents="go on", config=gemini.GenerateContentConfig(system_instruction=instruction))
    sent = wire.body()["systemInstruction"]["parts"]
    assert sent == body["parts"]
    assert "".join(part["text"] for part in sent) == prompt


def openai_input(body, prompt):
    pydantic.TypeAdapter(ResponseInputParam).validate_python(body)
    wire = Wire(RESPONSE)
    OpenAI(api_key=KEY, http_client=wire.client).responses.create(model="m", input=body)
    assert wire.body()["input"] == body
    assert "".join(item["content"] for item in body) == prompt


def openai_agents(body, prompt):
    wire = Wire(RESPONSE)
    client = AsyncOpenAI(api_key=KEY, http_client=wire.async_client)
    agent = Agent(name="resumed", model=OpenAIResponsesModel(model="m", openai_client=client))
    question = {"role": "user", "content": "go on"}
    result = asyncio.run(Runner.run(agent, body + [question]))
    assert result.final_output == "ok"
    assert wire.body()["input"] == body + [question]


def langgraph(body, prompt):
    messages = convert_to_messages(body)
    assert [type(m) for m in messages] == [SystemMessage, HumanMessage, SystemMessage]
    wire = Wire(COMPLETION)
    model = ChatOpenAI(model="m", api_key=KEY, http_client=wire.client)
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    out = graph.compile().invoke({"messages": body + [{"role": "user", "content": "go on"}]})
    assert out["messages"][-1].content == "ok"
    assert wire.body()["messages"][:3] == body


def mcp_contents(body, prompt):
    result = ReadResourceResult.model_validate(body)
    assert result.model_dump(mode="json", by_alias=True, exclude_unset=True) == body
    assert [c.text for c in result.contents] == [prompt]


CHECKS = [("anthropic", anthropic_system), ("gemini", gemini_instruction), ("openai-agents", openai_input),
          ("openai-agents", openai_agents), ("openai-agents", langgraph), ("mcp", mcp_contents)]


def main():
    passed = failed = 0
    for case in sorted(GOLDENS.iterdir()):
        prompt = (case / "prompt-ready.golden").read_bytes().decode()
        for name, check in CHECKS:
            try:
                check(json.loads((case / (name + ".golden")).read_bytes()), prompt)
                passed += 1
            except Exception as error:  # the next case is worth knowing too
                failed += 1
                print(f"{case.name} {check.__name__}: {type(error).__name__}: {str(error)[:800]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
