// The client of A2A.
import { TaskState } from '@a2a-js/sdk';
import { AgentCardResolver, ClientFactory } from '@a2a-js/sdk/client';

const states = {
  [TaskState.TASK_STATE_COMPLETED]: 'completed', [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_CANCELED]: 'canceled', [TaskState.TASK_STATE_INPUT_REQUIRED]: 'waiting',
};
const text = (parts) => parts.map(({ content }) => content?.$case === 'text' ? content.value : '').join('');

// hold adds an event to what the client holds of a task.
export function hold(task, { payload: { $case, value } }) {
  if ($case === 'task') return value;
  if ($case === 'statusUpdate') return { ...task, status: value.status };
  const at = task.artifacts.findIndex((a) => a.artifactId === value.artifact.artifactId);
  if (at < 0 && value.append) throw new Error('it appends to what is not there');
  if (at < 0) task.artifacts.push(value.artifact);
  else if (value.append) task.artifacts[at].parts.push(...value.artifact.parts);
  else task.artifacts[at] = value.artifact;
  return task;
}

export const told = (task) => ({
  status: states[task?.status?.state] ?? 'cut', error: text(task?.status?.message?.parts ?? []),
  texts: (task?.artifacts ?? []).filter((a) => a.artifactId === 'answer').map((a) => text(a.parts)),
});

export const message = (said, taskId = '') => ({ message: {
  messageId: crypto.randomUUID(), role: 1, taskId, contextId: '', extensions: [], referenceTaskIds: [],
  parts: [{ content: { $case: 'text', value: said }, filename: '', mediaType: '' }],
} });

export async function connect(url) {
  const card = await AgentCardResolver.default.resolve(new URL(url).origin);
  card.supportedInterfaces[0].url = url + '/a2a';
  return new ClientFactory().createFromAgentCard(card);
}

export default async function open(url) {
  async function a2a(story) {
    const client = await connect(url);
    let task;
    try {
      for await (const event of client.sendMessageStream(message(story))) task = hold(task, event);
      if (told(task).status === 'waiting') {
        for await (const event of client.sendMessageStream(message('main', task.id))) task = hold(task, event);
      }
    } catch (thrown) {
      return { status: 'failed', error: thrown.message };
    }
    const got = told(task);
    if (got.status === 'cut') return got;
    return { ...got, same: JSON.stringify(told(await client.getTask({ id: task.id }))) === JSON.stringify(got) };
  }
  return { a2a };
}
