// With each client, calls a tool, kills the server, starts it again, and calls twice more. Prints what each call came to.
// Usage: node restart.mjs LASTWORD FOLDER PORT
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';

const [lastword, folder, port] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}`;
const gateway = fileURLToPath(new URL('node_modules/.bin/supergateway', import.meta.url));
const sdk = async (version, transport, ...target) => (await import(`./${version}.mjs`)).connect(transport, target);
const clients = {
  'typescript sdk v1': () => sdk('v1', 'http', url + '/mcp'),
  'typescript sdk v2': () => sdk('v2', 'http', url + '/mcp'),
  supergateway: () => sdk('v1', 'stdio', gateway, '--streamableHttp', url + '/mcp', '--logLevel', 'none'),
  'langchain adapters': async () => {
    const tools = await new MultiServerMCPClient({ mcpServers: { lastword: { transport: 'http', url: url + '/mcp' } } }).getTools();
    return { call: async (name, args) => ({ text: await tools.find((t) => t.name === name).invoke(args) }) };
  },
};

async function serve() {
  const server = spawn(lastword, ['serve', '--http', `127.0.0.1:${port}`, '--state', `${folder}/state`, '--out', folder], { stdio: 'ignore' });
  while (!(await fetch(url + '/readyz').catch(() => ({}))).ok) await new Promise((done) => setTimeout(done, 50));
  return server;
}

for (const [name, open] of Object.entries(clients)) {
  let server = await serve();
  const client = await open();
  const said = [];
  for (let n = 0; n < 3; n++) {
    said.push(await client.call('run_list', {}, { timeout: 10000 }).then((r) => r.isError ? r.content[0].text : 'works', String));
    if (n > 0) continue;
    server.kill('SIGKILL');
    await once(server, 'exit');
    server = await serve();
  }
  console.log(`${name}: ${said.join(', ')}`);
  server.kill('SIGKILL');
  await once(server, 'exit');
}
process.exit();
