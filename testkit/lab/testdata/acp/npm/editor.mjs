// An editor that starts the agent, gives it the prompts, and prints a line of JSON for each: what it was told, and the
// answer. A prompt "cancel" is canceled at its first words, and at "kill" the agent is killed.
import {spawn} from 'node:child_process';
import {Readable, Writable} from 'node:stream';
import {client, methods, ndJsonStream} from '@agentclientprotocol/sdk';

const [folder, prompts, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
let now;
const editor = client({name: 'lab'})
  .onNotification(methods.client.session.update, async ({params}) => {
    const {sessionUpdate: kind, content, title, status} = params.update;
    now?.updates.push([kind, content?.text ?? title ?? '', status ?? ''].join(' '));
    if (now && kind === 'agent_message_chunk') now.words();
  })
  .onRequest(methods.client.session.requestPermission, async ({params}) => {
    now.updates.push('permission ' + params.toolCall.title);
    return {outcome: {outcome: 'selected', optionId: params.options[0].optionId}};
  })
  .onRequest(methods.client.elicitation.create, async ({params}) => {
    now.updates.push('form ' + params.message);
    return {action: 'accept', content: {answer: 'main'}};
  });
await editor.connectWith(ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (ctx) => {
  await ctx.request(methods.agent.initialize, {protocolVersion: 1, clientCapabilities: {elicitation: {form: {}}}});
  const {sessionId} = await ctx.request(methods.agent.session.new, {cwd: folder, mcpServers: []});
  for (const prompt of prompts.split(',')) {
    now = {prompt, updates: [], words() {
      if (prompt === 'cancel') ctx.notify(methods.agent.session.cancel, {sessionId});
      if (prompt === 'kill') agent.kill('SIGKILL');
    }};
    await ctx.request(methods.agent.session.prompt, {sessionId, prompt: [{type: 'text', text: prompt}]})
      .then(({stopReason}) => { now.stop = stopReason; }, (error) => { now.error = String(error.message ?? error); });
    console.log(JSON.stringify(now));
    if (prompt === 'kill') process.exit(0);
  }
}).catch((error) => { console.error(error); process.exit(1); });
agent.stdin.end();
process.exit(0);
