// The chat of the AI SDK, useChat without React.
export default async function open(url, version) {
  const ai = await import(`ai${version}`);
  class State {
    status = 'ready';
    messages = [];
    pushMessage = (m) => { this.messages = [...this.messages, m]; };
    popMessage = () => { this.messages = this.messages.slice(0, -1); };
    replaceMessage = (i, m) => { this.messages = this.messages.map((x, j) => (j === i ? structuredClone(m) : x)); };
    snapshot = (x) => structuredClone(x);
  }
  class Chat extends ai.AbstractChat {
    constructor(options) { super({ ...options, state: new State() }); }
  }

  // The message without what was taken back.
  function project(chat, reason) {
    const parts = chat.messages.at(-1).parts ?? [];
    const back = parts.filter((p) => p.type === 'data-retracted').map((p) => p.data.type + p.data.id);
    const kept = parts.filter((p) => !back.includes(p.type + p.providerMetadata?.lastword.id));
    const end = parts.find((p) => p.type === 'data-end')?.data;
    return {
      status: chat.status === 'error' ? 'failed' : end?.status ?? (reason === 'stop' ? 'completed' : reason ?? 'cut'), error: chat.error?.message,
      texts: kept.filter((p) => p.type === 'text').map((p) => p.text), thoughts: kept.filter((p) => p.type === 'reasoning').map((p) => p.text),
      tools: kept.filter((p) => p.type === 'dynamic-tool' && p.toolName !== 'ask')
        .map((p) => ({ name: p.toolName, input: p.input, output: p.output, error: p.errorText })),
    };
  }

  async function chat(story) {
    let reason, settle;
    const transport = new ai.DefaultChatTransport({ api: url + '/api/chat', headers: version === '7' ? { 'X-AI-SDK': '7' } : {} });
    const options = {
      id: crypto.randomUUID(), transport, onError: () => {}, sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
      onFinish: (f) => { reason = f.finishReason; settle?.(); },
    };
    const one = new Chat(options);
    await one.sendMessage({ text: story });
    const asked = one.messages.at(-1).parts?.find((p) => p.toolName === 'ask' && p.state === 'input-available');
    if (asked) {
      const settled = new Promise((resolve) => { settle = resolve; });
      await one.addToolOutput({ tool: 'ask', toolCallId: asked.toolCallId, output: 'main' });
      await settled;
    }
    const told = project(one, reason);
    const again = new Chat(options); // a page that comes back
    again.messages = structuredClone(one.messages);
    await again.resumeStream();
    return { ...told, same: JSON.stringify(project(again, reason)) === JSON.stringify(told) && again.messages.length === one.messages.length };
  }
  return { chat };
}
