// Calls the tool slow 100 times, 25 at once, gives each request three seconds, and waits for the runs. It prints how many
// results came. node slow.mjs v1 stdio COMMAND ARG...
const [version, transport, ...target] = process.argv.slice(2);
const { connect } = await import(`./${version}.mjs`);
const client = await connect(transport, target);
const limit = { timeout: 3000 };
async function result() {
  let said = await client.call('slow', {}, limit);
  while (said.structuredContent?.status === 'working') {
    said = await client.call('run_wait', { run_id: said.structuredContent.run_id, wait_ms: 1000 }, limit);
  }
  return said.content[0].text === 'The answer is 42.' ? 1 : 0;
}
let came = 0;
for (let round = 0; round < 4; round++) {
  for (const one of await Promise.all(Array.from({ length: 25 }, result))) came += one;
}
console.log(came);
await client.close();
