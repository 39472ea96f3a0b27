// Sends a second message while the first is answered, and prints how the client ends. node busy.mjs URL CLIENT
const [url, client] = process.argv.slice(2);
console.warn = console.error = () => {};
const until = async (is) => { while (!is()) await new Promise((resolve) => setTimeout(resolve, 10)); };

async function ai() {
  const ai = await import('ai7');
  const state = {
    status: 'ready', messages: [], snapshot: (x) => structuredClone(x),
    pushMessage(m) { this.messages = [...this.messages, m]; }, popMessage() { this.messages = this.messages.slice(0, -1); },
    replaceMessage(i, m) { this.messages = this.messages.map((x, j) => (j === i ? structuredClone(m) : x)); },
  };
  class Chat extends ai.AbstractChat {}
  const errors = [];
  const transport = new ai.DefaultChatTransport({ api: url + '/api/chat', headers: { 'X-AI-SDK': '7' } });
  const chat = new Chat({ id: 'busy', transport, state, onError: (e) => errors.push(e.message) });
  const first = chat.sendMessage({ text: 'first' });
  await until(() => chat.messages.at(-1)?.parts.some((p) => p.type === 'text' && p.text.includes('word')) && chat.messages.length > 1);
  await Promise.all([first, chat.sendMessage({ text: 'second' })]);
  return errors;
}

async function agui() {
  const { HttpAgent } = await import('@ag-ui/client');
  const errors = [];
  const agent = new HttpAgent({ url: url + '/agui', threadId: 'busy', initialMessages: [{ id: 'u1', role: 'user', content: 'first' }] });
  const watch = { onRunErrorEvent: ({ event }) => { errors.push(event.message); }, onRunFailed: ({ error }) => { errors.push(error.message); } };
  const first = agent.runAgent({ runId: '1' }, watch);
  await until(() => agent.messages.some((m) => m.role === 'assistant' && m.content?.includes('word')));
  agent.addMessage({ id: 'u2', role: 'user', content: 'second' });
  await Promise.all([first, agent.runAgent({ runId: '2' }, watch)]);
  return errors;
}

console.log(JSON.stringify(await { ai, agui }[client]()));
