import { expect, test } from 'vitest';
import { CommandError } from './commands';
import { SILENCE_MS, type Socket } from './connection';
import { FakeServer, record } from './fake-server';
import type { RunListener } from './run-watch';
import { Stream } from './stream';

function watcher() {
  const seen: number[] = [];
  const told: string[] = [];
  const listener: RunListener = {
    onRecords: (_from, _to, records) => seen.push(...records.map((each) => each.seq)),
    onHead: () => {},
    onReset: () => told.push('reset'),
    onLagged: (from, to) => told.push(`lagged ${from}-${to}`),
    onRefused: (why) => told.push(why),
    onDeleted: () => told.push('deleted'),
  };
  return { seen, told, listener };
}

const upTo = (head: number) => Array.from({ length: head }, (_, index) => index + 1);

test('a line that breaks after any message loses no record and doubles none', async () => {
  for (let cutAfter = 0; cutAfter <= 14; cutAfter += 1) {
    const server = new FakeServer();
    server.head = 23;
    server.cutAfter = cutAfter;
    const stream = new Stream(server);
    const { seen, told, listener } = watcher();
    stream.start();
    stream.watchRun('r', 0, 'e1', listener);
    await server.pass(SILENCE_MS - 1);
    expect(seen, `cut after ${cutAfter}`).toEqual(upTo(23));
    expect(told).toEqual([]);
    stream.close();
  }
});

test('a message is repeated after a loss under the same id and answered once', async () => {
  for (let cutAfter = 0; cutAfter <= 3; cutAfter += 1) {
    const server = new FakeServer();
    server.cutAfter = cutAfter;
    const stream = new Stream(server);
    stream.start();
    const answer = stream.command('r', { command: 'send', text: 'hello', mode: 'steer' });
    await server.pass(5_000);
    expect(await answer).toEqual({ note: 'done' });
    expect(server.done).toHaveLength(1);
    stream.close();
  }
});

test('without a connection what is about the moment is not sent, then or later', async () => {
  const server = new FakeServer();
  server.isUp = false;
  const stream = new Stream(server);
  stream.start();
  await server.settle();
  const stop = await stream.command('r', { command: 'stop' }).catch((error: unknown) => error);
  expect(stop).toEqual(new CommandError('no_connection', 'No connection: it was not sent'));
  const answer = stream.command('r', { command: 'answer', request: 'q', answer: { kind: 'allow' } }, 'mine');
  server.isUp = true;
  await server.pass(20_000);
  expect(await answer).toEqual({ note: 'done' });
  expect(server.done).toEqual(['mine']);
});

test('what is about the moment and has no answer when the connection is lost is not said again', async () => {
  const server = new FakeServer();
  // The greeting comes, the receipt does not.
  server.cutAfter = 1;
  const stream = new Stream(server);
  stream.start();
  await server.settle();
  const stop = stream.command('r', { command: 'stop' }).catch((error: unknown) => error);
  await server.pass(20_000);
  expect(await stop).toMatchObject({ code: 'connection_lost' });
  expect(server.said.filter(({ type }) => type === 'command')).toHaveLength(1);
  expect(stream.connectionState()).toEqual({ is: 'open' });
});

test('a command that is said again under its id is done once', async () => {
  const server = new FakeServer();
  const stream = new Stream(server);
  stream.start();
  await server.settle();
  for (let time = 0; time < 2; time += 1) {
    const answer = stream.command('r', { command: 'interrupt' }, 'mine');
    await server.settle();
    expect(await answer).toEqual({ note: 'done' });
  }
  expect(server.done).toEqual(['mine']);
});

test('a command that was refused says why', async () => {
  const server = new FakeServer();
  let socket: Socket | undefined;
  const open = server.openSocket.bind(server);
  server.openSocket = () => {
    socket = open();
    socket.send = (text) => {
      const { id } = JSON.parse(text) as { id: string };
      const error = { code: 'run_ended', message: 'the run has ended' };
      if (socket) server.tell(socket, { type: 'receipt', id, run: 'r', error });
    };
    return socket;
  };
  const stream = new Stream(server);
  stream.start();
  await server.settle();
  const answer = stream.command('r', { command: 'stop' }).catch((error: unknown) => error);
  await server.settle();
  expect(await answer).toEqual(new CommandError('run_ended', 'the run has ended'));
});

test('silence is a dead connection, and another one is opened', async () => {
  const server = new FakeServer();
  const stream = new Stream(server);
  stream.start();
  await server.pass(100);
  expect(stream.connectionState()).toEqual({ is: 'open' });
  await server.pass(SILENCE_MS + 1_000);
  expect(server.sockets).toBe(2);
  expect(stream.connectionState()).toEqual({ is: 'open' });
});

test('the wait between tries grows and never stops', async () => {
  const server = new FakeServer();
  server.isUp = false;
  server.login = 'gone';
  const stream = new Stream(server);
  stream.start();
  await server.pass(10_000);
  const early = server.sockets;
  expect(early).toBeGreaterThan(3);
  await server.pass(120_000);
  const later = server.sockets - early;
  expect(later).toBeGreaterThan(7);
  expect(later).toBeLessThan(14);
  server.isUp = true;
  await server.pass(16_000);
  expect(stream.connectionState()).toEqual({ is: 'open' });
});

test('a login that has expired stops the tries until somebody asks', async () => {
  const server = new FakeServer();
  server.isUp = false;
  server.login = 'logged_out';
  const stream = new Stream(server);
  stream.start();
  await server.pass(60_000);
  expect(stream.connectionState()).toEqual({ is: 'logged_out' });
  expect(server.sockets).toBe(1);
  server.isUp = true;
  stream.retryNow();
  await server.pass(10);
  expect(stream.connectionState()).toEqual({ is: 'open' });
});

test('a gap and a heartbeat with a later record make the client ask again', async () => {
  const server = new FakeServer();
  let socket: Socket | undefined;
  const open = server.openSocket.bind(server);
  server.openSocket = () => {
    socket = open();
    return socket;
  };
  const stream = new Stream(server);
  const { seen, told, listener } = watcher();
  stream.start();
  stream.watchRun('r', 0, 'e1', listener);
  await server.settle();
  server.head = 9;
  if (!socket) throw new Error('no connection');
  server.tell(socket, { type: 'records', run: 'r', epoch: 'e1', from: 4, to: 4, records: [record(4)] });
  await server.settle();
  expect(seen).toEqual(upTo(9));
  server.head = 12;
  server.tell(socket, { type: 'heartbeat', heads: [['r', 12]] });
  await server.settle();
  expect(seen).toEqual(upTo(12));
  server.tell(socket, { type: 'lagged', run: 'r', from: 13, to: 40 });
  await server.settle();
  expect(told).toEqual(['lagged 13-40']);
});

test('another journal is a reset', async () => {
  const server = new FakeServer();
  server.head = 5;
  server.epoch = 'e2';
  const stream = new Stream(server);
  const { seen, told, listener } = watcher();
  stream.start();
  stream.watchRun('r', 5, 'e1', listener);
  await server.settle();
  expect(seen).toEqual([]);
  expect(told).toEqual(['reset']);
});

test('a journal that was replaced while the line was lost is a reset, and nothing of it is taken for the old one', async () => {
  const server = new FakeServer();
  server.head = 5;
  let socket: Socket | undefined;
  const open = server.openSocket.bind(server);
  server.openSocket = () => {
    socket = open();
    return socket;
  };
  const stream = new Stream(server);
  const { seen, told, listener } = watcher();
  stream.start();
  stream.watchRun('r', 5, 'e1', listener);
  await server.settle();
  server.epoch = 'e2';
  server.head = 9;
  socket?.onclose?.();
  await server.pass(1_000);
  expect(told).toEqual(['reset']);
  if (!socket) throw new Error('no connection');
  server.tell(socket, { type: 'records', run: 'r', epoch: 'e2', from: 6, to: 6, records: [record(6)] });
  server.tell(socket, { type: 'heartbeat', heads: [['r', 9]] });
  await server.settle();
  expect(seen).toEqual([]);
  expect(told).toEqual(['reset']);
});

test('what is no message of the server is left alone', async () => {
  const server = new FakeServer();
  const stream = new Stream(server);
  let socket: Socket | undefined;
  const open = server.openSocket.bind(server);
  server.openSocket = () => {
    socket = open();
    return socket;
  };
  stream.start();
  await server.settle();
  for (const data of ['', '{', 'null', '[]', '{"type":"tomorrow"}', new Uint8Array(3)])
    socket?.onmessage?.({ data });
  expect(stream.connectionState()).toEqual({ is: 'open' });
});

test('a run that was deleted is not asked for again, however often the line breaks', async () => {
  const server = new FakeServer();
  server.head = 3;
  const stream = new Stream(server);
  const { told, listener } = watcher();
  stream.start();
  stream.watchRun('r', 0, 'e1', listener);
  await server.settle();
  server.say({ type: 'closed', run: 'r', code: 'run_deleted', message: 'the run `r` was deleted' });
  await server.settle();
  expect(told).toEqual(['deleted']);
  const asked = server.said.length;
  server.breakLine();
  await server.pass(SILENCE_MS / 2);
  expect(server.sockets).toBe(2);
  expect(server.said).toHaveLength(asked);
  stream.close();
});
