// Runs the script with a connected client of the TypeScript SDK, whichever version,
// and prints what came back.
import { readFile } from 'node:fs/promises';

const calls = {
  'tools/list': c => c.listTools(),
  'tools/call': (c, p) => c.callTool(p),
  'resources/list': c => c.listResources(),
  'resources/templates/list': c => c.listResourceTemplates(),
  'resources/read': (c, p) => c.readResource(p),
  'prompts/list': c => c.listPrompts(),
  'prompts/get': (c, p) => c.getPrompt(p),
  'completion/complete': (c, p) => c.complete(p),
};

export async function run(client, file) {
  const out = [];
  for (const { method, params } of JSON.parse(await readFile(file, 'utf8'))) {
    try {
      out.push({ result: await calls[method](client, params) });
    } catch (e) {
      if (e.code === undefined) throw e;
      out.push({ error: { code: e.code } });
    }
  }
  process.stdout.write(JSON.stringify(out));
}
