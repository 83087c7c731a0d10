// The TypeScript client most programs still have: node v1.mjs script (http URL KEY | stdio PROGRAM)
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { run } from './steps.mjs';

const [script, kind, at, key] = process.argv.slice(2);
const from = createRequire(process.env.MODULES + '/');
const load = name => import(pathToFileURL(from.resolve('@modelcontextprotocol/sdk/client/' + name)).href);
const { Client } = await load('index.js');
const { StreamableHTTPClientTransport } = await load('streamableHttp.js');
const { StdioClientTransport } = await load('stdio.js');
const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(at), { requestInit: { headers: { Authorization: `Bearer ${key}` } } })
  : new StdioClientTransport({ command: at, args: ['mcp'], env: { ...process.env } });
const client = new Client({ name: 'interop', version: '1' });
await client.connect(transport);
await run(client, script);
await client.close();
