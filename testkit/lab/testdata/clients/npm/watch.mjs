// Does with an official SDK what the clients kit asks for, and prints one JSON line a scenario; the kit judges them.
// Usage: node watch.mjs v1|v2 http URL    node watch.mjs v1|v2 stdio COMMAND [ARG...]
const [sdk, transport, ...target] = process.argv.slice(2);
const EVENT = 'io.github.seed889630bf.lastword/event';
const { connect } = await import(`./${sdk}.mjs`);

// watch calls a tool that streams and notes what came, when, and what came after the result.
async function watch(client, name, args, options = {}) {
  const seen = { events: [], late: 0, result: null, error: '' };
  let over = false;
  const onprogress = (p) => {
    const e = p._meta?.[EVENT];
    if (over) seen.late++;
    if (e) seen.events.push({ run_id: e.run_id, seq: e.seq, from: e.from ?? e.seq, type: e.type });
    options.onevent?.(seen);
  };
  try {
    const result = await client.call(name, args, { onprogress, signal: options.signal });
    seen.result = { ...result.structuredContent, is_error: result.isError === true, terminal: result._meta?.[EVENT],
      uri: result.content.find((part) => part.type === 'resource_link')?.uri };
  } catch (e) {
    seen.error = String(e?.message ?? e);
  }
  over = true;
  await settle();
  return seen;
}

// settle lets callbacks that are under way arrive, so that late ones are counted.
const settle = () => new Promise((done) => setTimeout(done, 50));
const say = (scenario, answer) => console.log(JSON.stringify({ scenario, ...answer }));
const last = (seen) => seen.events.at(-1)?.seq ?? 0;

let client = await connect(transport, target);
say('connect', { version: client.version() });
say('stream', { runs: [await watch(client, 'count', { n: 200 })] });
say('isolate', { runs: await Promise.all([1, 2, 3, 4].map(() => watch(client, 'count', { n: 50 }))) });

const stop = new AbortController();
const cancelled = await watch(client, 'program', {}, {
  signal: stop.signal,
  onevent: (seen) => { // after the run's start comes what the program says
    if (seen.events.length === 4) stop.abort();
  },
});
const id = cancelled.events[0]?.run_id;
const ended = await client.call('run_wait', { run_id: id, wait_ms: 10000 });
say('cancel', { runs: [cancelled], status: ended.structuredContent?.status });

const start = await client.call('run_start', { job: 'count', input: { n: 200, pause_ms: 2 } });
const run = start.structuredContent.run_id;
const leave = new AbortController();
const first = await watch(client, 'run_attach', { run_id: run, after: 0 }, {
  signal: leave.signal,
  onevent: (seen) => {
    if (seen.events.length === 40) leave.abort();
  },
});
if (transport === 'http') { // a new connection; over stdio the process would go with it
  await client.cut();
  client = await connect(transport, target);
}
say('resume', { runs: [first, await watch(client, 'run_attach', { run_id: run, after: last(first) })] });

const written = await watch(client, 'write', { text: 'kept' });
const { contents } = await client.read(written.result.uri);
say('artifact', { runs: [written], text: contents[0].text, uri: contents[0].uri });

say('crash', { runs: [await watch(client, 'crash', {})] });
await client.close();
process.exit(0);
