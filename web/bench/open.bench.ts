import { test } from 'vitest';
import { writeLongRun } from '../e2e/journal';
import { openTheatre } from '../e2e/theatre';
import { Probe } from './probe';
import { given, quantile, Table } from './table';

const RECORDS = given('records', 100_000);
const SHORT = '20260101-000000-000000';
const LONG = '20260102-000000-000000';
let head = 0;
const theatre = openTheatre((stage) => {
  writeLongRun(stage, SHORT, 100);
  head = writeLongRun(stage, LONG, RECORDS).head;
});

/** From the navigation until the end of the run is painted and the page answers, in seconds; and what it holds then. */
async function open(run: string): Promise<{ seconds: number; nodes: number; heap: number }> {
  const { server, visit } = theatre;
  const visitor = await visit();
  await visitor.page.addInitScript(() => {
    const look = () => {
      if (!document.querySelector('[data-kind=run_end]')) {
        requestAnimationFrame(look);
        return;
      }
      // Painted, and the thread is free for a person's click.
      requestAnimationFrame(() => setTimeout(() => performance.mark('interactive')));
    };
    requestAnimationFrame(look);
  });
  await visitor.page.goto(`${server.url}/runs/${run}`);
  const mark = await visitor.page.waitForFunction(
    () => performance.getEntriesByName('interactive')[0]?.startTime,
  );
  const seconds = Number(await mark.jsonValue()) / 1_000;
  const probe = await Probe.of(visitor);
  const [nodes, heap] = [await visitor.countNodes(), await probe.heap()];
  await visitor.leave();
  return { seconds, nodes, heap };
}

test('opening', async () => {
  await theatre.server.knows(LONG, head);
  const table = new Table('open');
  const rounds = given('rounds', 7);
  // The first one of each fills the caches of the server.
  await open(SHORT);
  await open(LONG);
  const [short, long] = [[] as number[], [] as number[]];
  let [nodes, heap] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    short.push((await open(SHORT)).seconds);
    const opened = await open(LONG);
    long.push(opened.seconds);
    nodes = Math.max(nodes, opened.nodes);
    heap = Math.max(heap, opened.heap);
  }
  const [few, many] = [quantile(short, 0.5), quantile(long, 0.5)];
  table.note('100 records: interactive after s, median', few);
  table.most(`${RECORDS} records: interactive after s, median`, many, 1);
  table.most(`${RECORDS} records: interactive after s, worst`, Math.max(...long), 1);
  table.most('long against short', many / few, 2);
  table.most('elements of the page', nodes, 3_000);
  table.most('JS heap in MB', heap, 150);
});
