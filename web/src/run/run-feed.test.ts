import { expect, test, vi } from 'vitest';
import type { RecordQuery } from '../api/records';
import type { RunListener } from '../stream/run-watch';
import type { RunRecord } from '../wire';
import { agent } from './records-for-tests';
import { RunFeed } from './run-feed';

const text = (seq: number) => agent(seq, 'text_block', { item: `m${seq}`, text: `${seq}` });

/** A journal of texts, read as the server reads it. */
class Journal {
  records: RunRecord[] = [];
  epoch = 'e';
  watchers: { after: number; listener: RunListener }[] = [];
  isDown = false;
  onPause = () => {};

  constructor(head: number) {
    for (let seq = 1; seq <= head; seq += 1) this.records.push(text(seq));
  }

  source = {
    fetch: async ({ after, before, limit = 200 }: RecordQuery) => {
      if (this.isDown) throw new Error('no answer');
      const found = this.records.filter((each) => each.seq > (after ?? 0) && each.seq < (before ?? Infinity));
      const isBackward = after === undefined;
      const records = isBackward ? found.slice(-limit) : found.slice(0, limit);
      const more = found.length > records.length;
      return {
        epoch: this.epoch,
        head_seq: this.records.length,
        records,
        next_after: isBackward || more ? (records.at(-1)?.seq ?? null) : null,
        next_before: (isBackward ? more : (records[0]?.seq ?? 1) > 1) ? (records[0]?.seq ?? null) : null,
      };
    },
    watch: (after: number, _epoch: string, listener: RunListener) => {
      const watcher = { after, listener };
      this.watchers.push(watcher);
      return () => {
        this.watchers = this.watchers.filter((each) => each !== watcher);
      };
    },
    soon: (run: () => void) => run(),
    pause: async () => this.onPause(),
  };

  write(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const record = text(this.records.length + 1);
      this.records.push(record);
      for (const { listener } of [...this.watchers]) listener.onRecords(record.seq, record.seq, [record]);
    }
  }
}

const seqs = (feed: RunFeed) => feed.builder.table.top.map((row) => row.seq);

test('a long run opens at its end and follows it', async () => {
  const journal = new Journal(100_000);
  const feed = new RunFeed(journal.source);
  await feed.open();
  expect(seqs(feed)).toHaveLength(300);
  journal.write(2);
  expect(seqs(feed).at(-1)).toBe(100_002);
  expect(feed.state).toMatchObject({ status: 'ready', hasBefore: true, hasAfter: false, head: 100_002 });
});

test('pages before are added until the first record', async () => {
  const journal = new Journal(700);
  const feed = new RunFeed(journal.source);
  await feed.open();
  await feed.loadBefore();
  await feed.loadBefore();
  expect(seqs(feed)).toHaveLength(700);
  expect(feed.state.hasBefore).toBe(false);
});

test('whoever follows keeps the end, however much is fetched before it', async () => {
  const journal = new Journal(3_000);
  for (const { event } of journal.records) {
    if (event.type === 'text_block') event.data.text = 'x'.repeat(5_000);
  }
  const feed = new RunFeed(journal.source);
  await feed.open();
  for (let page = 0; page < 6; page += 1) await feed.loadBefore();
  expect(feed.state.hasAfter).toBe(false);
  expect(seqs(feed).at(-1)).toBe(3_000);
  journal.write(1);
  expect(seqs(feed).at(-1)).toBe(3_001);
  expect(seqs(feed).length).toBeLessThan(700);
});

test('whoever follows a long run keeps only its end', async () => {
  const journal = new Journal(10);
  const feed = new RunFeed(journal.source);
  await feed.open();
  journal.write(12_000);
  expect(seqs(feed).length).toBeLessThanOrEqual(5_000);
  expect(seqs(feed).at(-1)).toBe(12_010);
  expect(feed.state.hasBefore).toBe(true);
});

test('whoever reads further up loses nothing of it, and gets to the end by pages', async () => {
  const journal = new Journal(3_900);
  const feed = new RunFeed(journal.source);
  await feed.open(1);
  feed.follow(false);
  while (feed.state.hasAfter) await feed.loadAfter();
  const first = seqs(feed)[0];
  journal.write(5_000);
  expect(seqs(feed)[0]).toBe(first);
  expect(feed.state.hasAfter).toBe(true);
  expect(journal.watchers).toEqual([]);
  while (feed.state.hasAfter) await feed.loadAfter();
  expect(seqs(feed).at(-1)).toBe(8_900);
  expect(journal.watchers).toHaveLength(1);
});

test('a link opens the run around its record', async () => {
  const journal = new Journal(2_000);
  const feed = new RunFeed(journal.source);
  await feed.open(1_000);
  expect(feed.covers(1_000)).toBe(true);
  expect(feed.state).toMatchObject({ hasBefore: true, hasAfter: true });
  expect(feed.builder.table.rowOf(1_000)?.seq).toBe(1_000);
});

test('a link beyond the end opens the end', async () => {
  const feed = new RunFeed(new Journal(20).source);
  await feed.open(5_000);
  expect(seqs(feed)).toHaveLength(20);
});

test('another journal is opened anew', async () => {
  const journal = new Journal(50);
  const feed = new RunFeed(journal.source);
  await feed.open();
  journal.epoch = 'f';
  journal.records = [text(1)];
  for (const { listener } of [...journal.watchers]) listener.onReset();
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  expect(seqs(feed)).toEqual([1]);
});

test('whoever lags and follows gets the end anew', async () => {
  const journal = new Journal(50);
  const feed = new RunFeed(journal.source);
  await feed.open();
  for (let seq = 51; seq <= 900; seq += 1) journal.records.push(text(seq));
  for (const { listener } of [...journal.watchers]) listener.onLagged(51, 900);
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  expect(seqs(feed).at(-1)).toBe(900);
});

test('a page that cannot be had leaves what is there and can be asked for again', async () => {
  const journal = new Journal(900);
  const feed = new RunFeed(journal.source);
  await feed.open();
  journal.isDown = true;
  await feed.loadBefore();
  expect(feed.state).toMatchObject({ status: 'ready', problem: 'no answer', loading: null });
  journal.isDown = false;
  await feed.loadBefore();
  expect(feed.state.problem).toBeNull();
  expect(seqs(feed)).toHaveLength(600);
});

test('a run that could not be opened, or followed, is opened again when asked', async () => {
  const journal = new Journal(20);
  const feed = new RunFeed(journal.source);
  journal.isDown = true;
  await feed.open();
  expect(feed.state.status).toBe('failed');
  journal.isDown = false;
  feed.retry();
  await vi.waitFor(() => expect(feed.state.status).toBe('ready'));
  for (const { listener } of [...journal.watchers]) listener.onRefused('too many');
  expect(feed.state).toMatchObject({ status: 'ready', problem: 'too many' });
  feed.retry();
  await vi.waitFor(() => expect(feed.state).toMatchObject({ status: 'ready', problem: null }));
  expect(journal.watchers).toHaveLength(1);
});

test('what comes while earlier rows are made is there with them, once', async () => {
  const journal = new Journal(3_000);
  const feed = new RunFeed(journal.source);
  await feed.open();
  for (let page = 0; page < 5; page += 1) await feed.loadBefore();
  const piece = (seq: number, words: string) =>
    agent(seq, 'delta', { item: 'live', part: 'text', mode: 'append', text: words });
  const tell = (record: RunRecord) => {
    journal.records.push(record);
    for (const { listener } of [...journal.watchers]) listener.onRecords(record.seq, record.seq, [record]);
  };
  tell(piece(3_001, 'one '));
  let pauses = 0;
  journal.onPause = () => {
    pauses += 1;
    tell(piece(3_001 + pauses, `piece-${pauses} `));
  };
  await feed.loadBefore();
  expect(pauses).toBeGreaterThan(2);
  const pieces = Array.from({ length: pauses }, (_, at) => `piece-${at + 1} `).join('');
  expect(feed.builder.table.top.at(-1)?.body).toMatchObject({ kind: 'text', text: `one ${pieces}` });
  expect(seqs(feed)).toEqual(Array.from({ length: 2_101 }, (_, at) => 901 + at));
});

test('a run that is opened elsewhere meanwhile keeps what was opened', async () => {
  const journal = new Journal(3_000);
  const feed = new RunFeed(journal.source);
  await feed.open();
  for (let page = 0; page < 3; page += 1) await feed.loadBefore();
  let opening: Promise<void> | undefined;
  journal.onPause = () => {
    opening ??= feed.open(500);
  };
  await feed.loadBefore();
  await opening;
  expect(feed.builder.table.rowOf(500)?.seq).toBe(500);
  expect(feed.builder.table.rowOf(2_900)).toBeUndefined();
  expect(feed.state).toMatchObject({ status: 'ready', loading: null });
});
