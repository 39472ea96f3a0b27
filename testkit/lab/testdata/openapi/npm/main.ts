// The client that orval makes starts, lists and follows a run, with the types that openapi-typescript makes.
import {getEvents, listRuns, startRun} from './orval.ts';
import type {components} from './types.ts';

type Schemas = components['schemas'];

// body reads an answer, which orval leaves unread where it may be NDJSON.
const body = async <T>(answer: object) => await (answer as {stream: Response}).stream.json() as T;

const {run_id} = await body<Schemas['State']>(await startRun({job: 'tell', input: 3}));
const {runs} = await body<Schemas['RunList']>(await listRuns());
if (!runs.some((run) => run.run_id === run_id)) throw new Error(`the list lacks ${run_id}`);
for (let after = '0', last = ''; last !== 'run.completed';) {
  const page = await body<Schemas['Page']>(await getEvents(run_id, {after, wait: '30s'}));
  for (const event of page.events) console.log(last = event.type);
  after = String(page.next);
}
