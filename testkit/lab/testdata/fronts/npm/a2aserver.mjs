// An agent that starts the server, sends it the prompts, and prints a line of JSON for each. At "cancel" the task is
// canceled with its first words, and at "kill" the server is killed and started again.
import { spawn } from 'node:child_process';
import { connect, hold, message, told } from './a2a.mjs';

const [prompts, command, ...args] = process.argv.slice(2);
let server;
const start = () => new Promise((resolve) => {
  server = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  server.stderr.on('data', (data) => {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said += data) ?? [];
    if (url) resolve(connect(url));
  });
});
let client = await start();
for (const prompt of prompts.split(',')) {
  let task, error, words = 0;
  const follow = async (events) => {
    for await (const event of events) {
      task = hold(task, event);
      if (event.payload.$case !== 'artifactUpdate' || words++) continue;
      if (prompt === 'cancel') await client.cancelTask({ id: task.id });
      if (prompt === 'kill') server.kill('SIGKILL');
    }
  };
  try {
    await follow(client.sendMessageStream(message(prompt)));
    if (told(task).status === 'waiting') await follow(client.sendMessageStream(message('main', task.id)));
  } catch (thrown) {
    error = told(task).status; // of a cut stream
    client = await start();
    const { id } = task;
    await follow(client.resubscribeTask({ id })).catch(async () => { task = await client.getTask({ id }); }); // it has ended
  }
  const { status, texts, error: why } = told(task);
  console.log(JSON.stringify({ prompt, status, text: texts.join(), why, error }));
}
server.kill();
