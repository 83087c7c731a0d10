// Builds the vendors' requests from the golden files with the vendors' own SDKs. The
// compiler holds what is built against their types, and each client gets a fetch that
// keeps what would be sent and answers from here: nothing leaves.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, type Content } from '@google/genai'
import { coerceMessageLikeToMessage, type BaseMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ReadResourceResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { Agent, OpenAIResponsesModel, Runner, setTracingDisabled, type AgentInputItem } from '@openai/agents'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'

const internal = pathToFileURL(process.env.GOLDENS + '/')
const goldens = new URL('render/testdata/', internal)
const apiKey = 'none'
setTracingDisabled(true)

let sent: any[] = []
const answering = (answer: unknown) => async (url: any, init?: any) => {
  const body = init?.body ?? (await url.text())
  sent.push(JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)))
  return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } })
}
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }
const response = { id: 'r', object: 'response', created_at: 0, model: 'm', status: 'completed', output: [{ id: 'o', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'ok', annotations: [] }] }], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } } }
const content = { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] }

type Check = (body: any, prompt: string) => Promise<void>

const anthropic: Check = async (body: Anthropic.TextBlockParam[], prompt) => {
  const client = new Anthropic({ apiKey, fetch: answering(message) })
  await client.messages.create({ model: 'm', max_tokens: 1, system: body, messages: [{ role: 'user', content: 'go on' }] })
  assert.deepEqual(sent[0].system, body)
  assert.equal(body.map((block) => block.text).join(''), prompt)
}

const gemini: Check = async (body: Content, prompt) => {
  globalThis.fetch = answering(content) as typeof fetch
  const client = new GoogleGenAI({ apiKey })
  await client.models.generateContent({ model: 'm', contents: 'go on', config: { systemInstruction: body } })
  assert.deepEqual(sent[0].systemInstruction.parts, body.parts)
  assert.equal(body.parts!.map((part) => part.text).join(''), prompt)
}

const responses: Check = async (body: OpenAI.Responses.ResponseInput, prompt) => {
  const client = new OpenAI({ apiKey, fetch: answering(response) as typeof fetch })
  await client.responses.create({ model: 'm', input: body })
  assert.deepEqual(sent[0].input, body)
  assert.equal(body.map((item) => (item as OpenAI.Responses.EasyInputMessage).content).join(''), prompt)
}

const agents: Check = async (body: AgentInputItem[]) => {
  const client = new OpenAI({ apiKey, fetch: answering(response) as typeof fetch })
  const agent = new Agent({ name: 'resumed', model: new OpenAIResponsesModel(client as any, 'm') })
  const result = await new Runner({ tracingDisabled: true }).run(agent, [...body, { role: 'user', content: 'go on' }])
  assert.equal(result.finalOutput, 'ok')
  const texts = sent[0].input.map((item: any) => (typeof item.content === 'string' ? item.content : item.content.map((part: any) => part.text).join('')))
  assert.deepEqual(texts.slice(0, 3), body.map((item: any) => item.content))
  assert.deepEqual(sent[0].input.map((item: any) => item.role).slice(0, 3), ['system', 'user', 'system'])
}

const langgraph: Check = async (body: { role: string; content: string }[], prompt) => {
  const messages: BaseMessage[] = body.map((item) => coerceMessageLikeToMessage(item))
  assert.deepEqual(messages.map((m) => m.getType()), ['system', 'human', 'system'])
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('seen', (state) => ({ messages: [{ role: 'assistant', content: state.messages.map((m) => m.content).join('') }] }))
    .addEdge(START, 'seen')
    .addEdge('seen', END)
    .compile()
  const out = await graph.invoke({ messages: body as any })
  assert.equal(out.messages.at(-1)!.content, prompt)
}

const mcp: Check = async (body, prompt) => {
  const result = ReadResourceResultSchema.parse(body)
  assert.deepEqual(result, body)
  assert.equal((result.contents[0] as { text: string }).text, prompt)
}

const checks: [string, Check][] = [['anthropic', anthropic], ['gemini', gemini], ['openai-agents', responses], ['openai-agents', agents], ['openai-agents', langgraph], ['mcp', mcp]]

let passed = 0
let failed = 0
for (const name of readdirSync(goldens).sort()) {
  const read = (format: string) => readFileSync(new URL(`${name}/${format}.golden`, goldens), 'utf8')
  for (const [format, check] of checks) {
    sent = []
    try {
      await check(JSON.parse(read(format)), read('prompt-ready'))
      passed++
    } catch (error) {
      failed++
      console.log(`${name} ${format}: ${String(error).slice(0, 800)}`)
    }
  }
}
// The server counts tokens as this implementation of o200k_base does.
const counts = JSON.parse(readFileSync(new URL('count/testdata/counts.json', internal), 'utf8')) as { text: string; tokens: number }[]
for (const { text, tokens } of counts) {
  if (encode(text).length === tokens) passed++
  else failed++, console.log(`${JSON.stringify(text)}: ${encode(text).length} tokens, not ${tokens}`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed || !passed ? 1 : 0
