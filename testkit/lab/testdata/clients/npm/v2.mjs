import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export async function connect(transport, [first, ...args]) {
  const wire = transport === 'http'
    ? new StreamableHTTPClientTransport(new URL(first))
    : new StdioClientTransport({ command: first, args, env: process.env, stderr: 'inherit' });
  const client = new Client({ name: 'kit', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(wire);
  return {
    version: () => client.getNegotiatedProtocolVersion?.() ?? '',
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    read: (uri) => client.readResource({ uri }),
    cut: () => wire.close(),
    close: () => client.close(),
  };
}
