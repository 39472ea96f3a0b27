// The client of AG-UI, with its verifier.
import { HttpAgent } from '@ag-ui/client';

export default async function open(url) {
  async function agui(story) {
    const agent = new HttpAgent({ url: url + '/agui', threadId: crypto.randomUUID(), initialMessages: [{ id: 'u1', role: 'user', content: story }] });
    let status = 'cut', error;
    const watch = {
      onRunFinishedEvent: ({ event }) => { status = { success: 'completed', cancelled: 'canceled', interrupt: 'waiting' }[event.outcome?.type]; },
      onRunErrorEvent: ({ event }) => { status = 'failed'; error = event.message; },
      onRunFailed: () => { status = 'failed'; },
    };
    try {
      await agent.runAgent({ runId: '1' }, watch);
      if (status === 'waiting') {
        const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved', payload: 'main' }));
        await agent.runAgent({ runId: '2', resume }, watch);
      }
    } catch (thrown) {
      status = 'failed';
      error ??= thrown.message;
    }
    const of = (role) => agent.messages.filter((m) => m.role === role);
    const reason = agent.state.lastword?.finish_reason;
    return {
      status: status === 'completed' && reason !== 'stop' ? reason : status, error, same: agent.state.lastword?.status === status || status === 'failed' || status === 'cut',
      texts: of('assistant').filter((m) => m.content).map((m) => m.content), thoughts: of('reasoning').map((m) => m.content),
      tools: of('assistant').flatMap((m) => m.toolCalls ?? []).map((c) => {
        const [, failed, output] = /^(error: )?(.*)$/s.exec(of('tool').find((m) => m.toolCallId === c.id)?.content ?? '');
        return { name: c.function.name, input: JSON.parse(c.function.arguments), ...(failed ? { error: output } : { output }) };
      }),
    };
  }
  return { agui };
}
