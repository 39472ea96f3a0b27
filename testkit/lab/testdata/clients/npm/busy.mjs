// Calls the tool chat again while it answers, and prints the errors. node busy.mjs http URL
import { connect } from './v1.mjs';
const [transport, ...target] = process.argv.slice(2);
const client = await connect(transport, target);
let answering;
const begun = new Promise((resolve) => { answering = resolve; });
const call = (message) => client.call('chat', { message, context: 'busy' }, { onprogress: () => answering() });
const first = call('first');
await begun;
const ends = await Promise.all([first, call('second')]);
console.log(JSON.stringify(ends.filter((e) => e.isError).map((e) => e.content[0].text)));
await client.close();
