// The TypeScript client of today: node v2.mjs script (http URL KEY | stdio PROGRAM) [mode]
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { run } from './steps.mjs';

const [script, kind, at, ...more] = process.argv.slice(2);
const from = createRequire(process.env.MODULES + '/');
const load = name => import(pathToFileURL(from.resolve(name)).href);
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
const mode = more.at(-1);
const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(at), { requestInit: { headers: { Authorization: `Bearer ${more[0]}` } } })
  : new StdioClientTransport({ command: at, args: ['mcp'], env: { ...process.env } });
const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: { mode: mode === 'pin' ? { pin: '2026-07-28' } : mode } });
await client.connect(transport);
await run(client, script);
await client.close();
