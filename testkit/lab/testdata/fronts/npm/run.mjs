// Prints what a client has at the end of each story, as JSON lines, and then of a plain one that is cut after each frame.
// node run.mjs URL CUTS "CLIENT VERSION" STORY...
const [url, cuts, name, ...stories] = process.argv.slice(2);
const [client, version] = name.split(' ');
const { default: open } = await import(`./${client}.mjs`);
console.warn = console.error = () => {};
process.on('unhandledRejection', () => {}); // the client of AG-UI rejects a cut answer twice
for (const [api, ask] of Object.entries(await open(url, version))) {
  for (const story of stories) console.log(JSON.stringify({ api, story, ...await ask(story) }));
}
for (let n = 1; n <= cuts; n++) {
  for (const [api, ask] of Object.entries(await open(`${url}/cut/${n}`, version))) {
    console.log(JSON.stringify({ api, cut: n, status: (await ask('plain')).status }));
  }
}
