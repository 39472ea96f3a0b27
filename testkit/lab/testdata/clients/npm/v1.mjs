import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connect(transport, [first, ...args]) {
  const wire = transport === 'http'
    ? new StreamableHTTPClientTransport(new URL(first))
    : new StdioClientTransport({ command: first, args, env: process.env, stderr: 'inherit' });
  const client = new Client({ name: 'kit', version: '1' });
  await client.connect(wire);
  return {
    version: () => wire.protocolVersion ?? '2025-11-25',
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    read: (uri) => client.readResource({ uri }),
    cut: () => wire.close(),
    close: () => client.close(),
  };
}
