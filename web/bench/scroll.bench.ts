import { test } from 'vitest';
import { writeLongRun } from '../e2e/journal';
import { openTheatre } from '../e2e/theatre';
import { Probe } from './probe';
import { given, quantile, Table } from './table';

const RECORDS = given('records', 100_000);
const LONG = '20260102-000000-000000';
let head = 0;
const theatre = openTheatre((stage) => {
  head = writeLongRun(stage, LONG, RECORDS).head;
});
const STEPS = 400;

test('scrolling', async () => {
  const { server, visit } = theatre;
  await server.knows(LONG, head);
  const table = new Table('scroll');
  const visitor = await visit();
  await visitor.go(`/runs/${LONG}`);
  await visitor.sees('Run ended', visitor.activity);
  await visitor.page.waitForLoadState('networkidle');
  const probe = await Probe.of(visitor);
  await visitor.activity.hover();
  await visitor.page.evaluate(() => {
    const frames: number[] = [];
    let last = performance.now();
    const look = (now: number) => {
      frames.push(now - last);
      last = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    Object.assign(globalThis, { frames });
  });
  let [nodes, heap] = [0, 0];
  for (let step = 0; step < STEPS; step += 1) {
    await visitor.page.mouse.wheel(0, step % 8 === 7 ? 300 : -400);
    await visitor.page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    if (step % 20 !== 0) continue;
    nodes = Math.max(nodes, await visitor.countNodes());
    heap = Math.max(heap, await probe.heap());
  }
  const frames = await visitor.page.evaluate(() =>
    (globalThis as unknown as { frames: number[] }).frames.slice(2),
  );
  table.note('frames', frames.length);
  table.note('median frame in ms', quantile(frames, 0.5));
  table.most('p99 of frames in ms', quantile(frames, 0.99), 50);
  table.note('longest frame in ms', Math.max(...frames));
  table.most('elements of the page', nodes, 3_000);
  table.most('JS heap in MB', heap, 150);
  await visitor.leave();
});
