import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openTheatre } from '../e2e/theatre';
import { Probe } from './probe';
import { given, Table } from './table';

const RATE = 1_000;
const SECONDS = given('minutes', 1) * 60;
const theatre = openTheatre();

/** A run whose agent writes by a clock, as soon as the gate is there. */
async function start(): Promise<string> {
  const { stage, server } = theatre;
  const workspace = stage.path('projects/deltas');
  mkdirSync(workspace, { recursive: true });
  const args = [
    resolve(import.meta.dirname, 'delta-agent.mjs'),
    String(RATE),
    String(SECONDS),
    stage.path('go'),
  ];
  const settings = {
    cli: { backend: 'custom', output_format: 'stream-json', command: process.execPath, args },
  };
  // JSON is YAML.
  stage.configure(workspace, JSON.stringify(settings));
  return server.start(workspace);
}

const words = (text: string) => text.match(/word-\d+/g) ?? [];

test('a fast text', async () => {
  const { stage, server, visit } = theatre;
  const table = new Table('deltas');
  const run = await start();
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('Iteration 1', visitor.activity);
  const probe = await Probe.of(visitor);
  stage.open('go');
  await visitor.sees('word-', visitor.activity);
  // What is loaded when it is needed has been loaded then.
  await new Promise((done) => setTimeout(done, 5_000));
  const heapBefore = await probe.heapAfterCollection();
  const [busyBefore, before] = [await probe.busySeconds(), performance.now()];
  await new Promise((done) => setTimeout(done, (SECONDS - 10) * 1_000));
  const [busyAfter, after] = [await probe.busySeconds(), performance.now()];
  const heapAfter = await probe.heapAfterCollection();
  await visitor.page.getByText('Run ended').waitFor({ timeout: 60_000 });
  await server.becomes(run, 'ended');
  const texts = stage.journal(run).filter(({ event }) => event.type === 'text_block');
  const last = words(String(texts.at(-1)?.event.data.text));
  const shown = visitor.activity.locator('article[data-kind=text]').last();
  await expect.poll(async () => words((await shown.textContent()) ?? '')).toEqual(last);
  expect(texts.flatMap(({ event }) => words(String(event.data.text))).length).toBe(RATE * SECONDS);
  table.note('seconds', SECONDS);
  table.note('pieces a second', (RATE * SECONDS) / SECONDS);
  table.most('main thread busy in %', ((busyAfter - busyBefore) * 100_000) / (after - before), 30);
  table.note('JS heap at the beginning in MB, collected', heapBefore);
  table.most('JS heap more at the end in MB, collected', heapAfter - heapBefore, 5);
  table.most('elements of the page', await visitor.countNodes(), 3_000);
  await visitor.leave();
});
