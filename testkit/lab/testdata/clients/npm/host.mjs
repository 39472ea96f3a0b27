// Is a host: the AI SDK with its MCP client, and a model that follows a script. Prints one JSON line for each time that
// the model was asked: which tools it was offered, and what the last call gave it; the kit judges them.
// Usage: node host.mjs http URL    node host.mjs stdio COMMAND
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as Stdio } from '@ai-sdk/mcp/mcp-stdio';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

const [transport, target] = process.argv.slice(2);
const client = await createMCPClient({
  transport: transport === 'http' ? { type: 'http', url: target } : new Stdio({ command: target, env: process.env }),
});

// The calls of the model, each made of what it was given: all that it knows of the run is what it reads there.
const script = [
  () => ['write', { text: 'kept' }],
  (given) => ['run_read', { run_id: /r_[a-z0-9]{26}/.exec(given)[0], name: /(\S+) \(4 bytes\)/.exec(given)[1] }],
  () => ['run_start', { job: 'count', input: '{"n": 20.0, "pause_ms": 50}' }],
  (given) => ['run_wait', { run_id: /r_[a-z0-9]{26}/.exec(given)[0], wait_ms: 10000.0 }],
  (given) => ['run_events', { run_id: /r_[a-z0-9]{26}/.exec(given)[0] }],
  () => ['run_get', { run: 'r_1' }],
  () => ['crash', {}],
];
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const answer = (reason, content) => ({ content: [content], finishReason: { unified: reason }, usage, warnings: [] });
let step = 0;
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt, tools }) => {
    const output = prompt.at(-1).content[0].output;
    const given = typeof output?.value === 'string' ? output.value : (output?.value ?? []).map((part) => part.text).join('\n');
    const [toolName, input] = script[step]?.(given) ?? [];
    console.log(JSON.stringify({ tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      given, failed: output?.type?.startsWith('error') ?? false, next: toolName ?? '' }));
    if (!toolName) {
      return answer('stop', { type: 'text', text: 'done' });
    }
    return answer('tool-calls', { type: 'tool-call', toolCallId: `c${++step}`, toolName, input: JSON.stringify(input) });
  },
});
await generateText({ model, tools: await client.tools(), prompt: 'Work.', stopWhen: stepCountIs(script.length + 1) });
await client.close();
process.exit(0);
