// Starts a run, watches it, answers its request, pages through records and reads the cost, with the generated client.
// Prints what it found as JSON; a test compares it with what the server says.
import assert from 'node:assert/strict';
import {
  approvalsAnswer,
  approvalsList,
  costsList,
  recordsList,
  runsEvents,
  runsGet,
  runsList,
  runsStart,
} from './client/index.js';
import { createClient } from './client/client/index.js';

const { RALPH_URL: baseUrl, RALPH_TOKEN: token, RALPH_WORKSPACE: workspace } = process.env;
assert(baseUrl && token && workspace);
const client = createClient({ baseUrl, auth: token });

const started = await runsStart({
  client,
  body: { workspace, prompt: 'Do it.', once: true },
  throwOnError: true,
});
const { id } = started.data;
assert.equal(started.response.headers.get('location'), `/api/v1/runs/${id}`);

// The API describes the stream as text; the client parses the JSON of each event.
const { stream } = await runsEvents({ client, path: { id }, query: { after: 0 } });
const watched: string[] = [];
let tool: unknown;
for await (const event of stream) {
  const message: unknown = event;
  for (const { type } of eventsOf(message)) {
    watched.push(type);
    if (type === 'permission_requested') tool = await answer();
  }
  if (watched.at(-1) === 'run_ended') break;
}
assert.equal(watched[0], 'run_started');

async function answer(): Promise<unknown> {
  for (;;) {
    const waiting = await approvalsList({ client, query: { pending: true, run: id }, throwOnError: true });
    const request = waiting.data.items[0];
    // The list comes a moment later than the stream.
    if (request === undefined) continue;
    const path = { id, request: request.request };
    const { data } = await approvalsAnswer({ client, path, body: { kind: 'allow' }, throwOnError: true });
    assert.equal(data.is_already_done, false);
    return request.data['tool'];
  }
}

function eventsOf(message: unknown): { type: string }[] {
  assert(typeof message === 'object' && message !== null && 'records' in message && Array.isArray(message.records));
  return message.records.map((record: { event: { type: string } }) => record.event);
}

const seqs: number[] = [];
let query: { after?: number; cursor?: string } = { after: 0 };
for (;;) {
  const { data: page } = await recordsList({ client, path: { id }, query: { ...query, limit: 3 }, throwOnError: true });
  seqs.push(...page.items.map((record) => record.seq));
  if (page.next === null) break;
  query = { cursor: page.next };
}
assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b));

let { data: run } = await runsGet({ client, path: { id }, throwOnError: true });
while (run.activity.state !== 'ended') ({ data: run } = await runsGet({ client, path: { id }, throwOnError: true }));
assert.equal(run.activity.reason, 'completed');

const { data: runs } = await runsList({ client, query: { limit: 1 }, throwOnError: true });
assert.deepEqual(
  runs.items.map((one) => one.id),
  [id],
);

// What was spent is added up a moment after the run has ended.
const deadline = Date.now() + 60_000;
let cost: number | undefined;
while (cost !== run.totals.cost_micro_usd) {
  assert(Date.now() < deadline, `${cost} of ${run.totals.cost_micro_usd}`);
  const { data: costs } = await costsList({ client, query: { group: 'run' }, throwOnError: true });
  cost = costs.items.find((one) => one.key === id)?.cost_micro_usd;
}

const { error } = await runsGet({ client, path: { id: '20260101-000000-000000' } });
assert.equal(error?.code, 'run_not_found');

process.stdout.write(`${JSON.stringify({ run: id, tool, records: seqs.length, cost_micro_usd: cost })}\n`);
