import { expect, test } from 'vitest';
import { CommandError } from '../stream/commands';
import type { Receipt } from '../wire';
import { Outbox, type Say } from './outbox';

class FakeStorage {
  kept = new Map<string, string>();
  getItem = (name: string) => this.kept.get(name) ?? null;
  setItem = (name: string, value: string) => void this.kept.set(name, value);
  removeItem = (name: string) => void this.kept.delete(name);
}

function stage(storage = new FakeStorage()) {
  const said: string[] = [];
  const answers: { resolve: (receipt: Receipt) => void; reject: (error: unknown) => void }[] = [];
  const ids: string[] = [];
  const say: Say = (text, mode, id) => {
    said.push(`${mode} ${text}`);
    ids.push(id);
    return new Promise((resolve, reject) => {
      answers.push({ resolve, reject });
    });
  };
  const outbox = new Outbox('r', say, storage, () => 1);
  const settle = async (how: 'takes' | CommandError) => {
    const answer = answers.shift();
    if (how === 'takes') answer?.resolve({ message_id: 'm1' });
    else answer?.reject(how);
    await new Promise((done) => setTimeout(done));
  };
  return { outbox, said, ids, storage, settle };
}

test('what is written outlives a reload', () => {
  const { outbox, storage } = stage();
  outbox.write('half a thought');
  expect(stage(storage).outbox.draft).toBe('half a thought');
});

test('nothing but blanks is not sent', () => {
  const { outbox, said } = stage();
  outbox.write(' \n ');
  expect(outbox.send('steer')).toBe(false);
  expect(said).toEqual([]);
});

test('a message leaves the input at once and is kept until the run tells of it', async () => {
  const { outbox, said, settle, storage } = stage();
  outbox.write('go on ');
  outbox.send('queue');
  expect([outbox.draft, said]).toEqual(['', ['queue go on']]);
  await settle('takes');
  expect(outbox.outgoing).toMatchObject([{ messageId: 'm1', problem: null }]);
  outbox.forget([{ id: 'm1', commandId: null }]);
  expect(outbox.outgoing).toEqual([]);
  expect(storage.kept.size).toBe(0);
});

test('a message that is refused is not lost, and can be sent again or changed', async () => {
  const { outbox, said, settle } = stage();
  outbox.write('go on');
  outbox.send('steer');
  await settle(new CommandError('runner_busy', 'too much waits'));
  const [failed] = outbox.outgoing;
  expect(failed?.problem).toBe('Too much waits. Try again in a moment.');
  outbox.sendAgain(failed?.key ?? '');
  expect(said).toHaveLength(2);
  await settle(new CommandError('runner_busy', 'too much waits'));
  outbox.write('new words');
  outbox.putBack(outbox.outgoing[0]?.key ?? '');
  expect(outbox.draft).toBe('go on\n\nnew words');
  expect(outbox.outgoing).toEqual([]);
});

test('a message is said after the receipt of the one before, and also if that was refused', async () => {
  const { outbox, said, settle } = stage();
  for (const text of ['one', 'two', 'three']) {
    outbox.write(text);
    outbox.send('steer');
  }
  expect(outbox.outgoing.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
  expect(said).toEqual(['steer one']);
  await settle('takes');
  expect(said).toEqual(['steer one', 'steer two']);
  await settle(new CommandError('too_large', 'the message is too long'));
  expect(said).toEqual(['steer one', 'steer two', 'steer three']);
  await settle('takes');
  outbox.write('four');
  outbox.send('steer');
  expect(said).toHaveLength(4);
});

test('a message that arrived before a reload is known by the command that brought it', () => {
  const { outbox, ids, storage } = stage();
  outbox.write('go on');
  outbox.send('steer');
  const later = stage(storage).outbox;
  later.forget([{ id: 'm7', commandId: 'of somebody else' }]);
  expect(later.outgoing).toHaveLength(1);
  later.forget([{ id: 'm8', commandId: ids[0] ?? '' }]);
  expect(later.outgoing).toEqual([]);
});

test('a reload before the receipt leaves the words, and says that nobody knows', () => {
  const { outbox, storage } = stage();
  outbox.write('go on');
  outbox.send('steer');
  const [kept] = stage(storage).outbox.outgoing;
  expect(kept?.text).toBe('go on');
  expect(kept?.problem).toContain('reloaded');
});

test('a message that may have arrived is sent again under its id, one that was refused under another', async () => {
  const { outbox, ids, settle, storage } = stage();
  outbox.write('go on');
  outbox.send('steer');
  await settle(new CommandError('runner_silent', 'no runner answers'));
  outbox.sendAgain(outbox.outgoing[0]?.key ?? '');
  expect(ids[1]).toBe(ids[0]);
  const later = stage(storage);
  later.outbox.sendAgain(later.outbox.outgoing[0]?.key ?? '');
  expect(later.ids[0]).toBe(ids[0]);
  await later.settle(new CommandError('runner_busy', 'too much waits'));
  later.outbox.sendAgain(later.outbox.outgoing[0]?.key ?? '');
  expect(later.ids[1]).not.toBe(ids[0]);
});

test('new words for a message that the agent takes meanwhile go into the input, and that is told', () => {
  const { outbox } = stage();
  outbox.write('and more');
  outbox.edit('m1', { text: 'better', isSaving: false });
  outbox.rescueEdit('m1', 'good');
  expect(outbox.draft).toBe('better\n\nand more');
  expect(outbox.notice).toContain('in the input');
  expect(outbox.edits.size).toBe(0);
  outbox.send('steer');
  expect(outbox.notice).toBeNull();
});

test('words that were not changed or are on their way are not put into the input', () => {
  const { outbox } = stage();
  outbox.edit('m1', { text: 'good ', isSaving: false });
  outbox.rescueEdit('m1', 'good');
  outbox.edit('m2', { text: 'better', isSaving: true });
  outbox.rescueEdit('m2', 'good');
  expect([outbox.draft, outbox.notice]).toEqual(['', null]);
  expect([...outbox.edits.keys()]).toEqual(['m2']);
});

test('what is broken in the storage is nothing', () => {
  const storage = new FakeStorage();
  storage.setItem('ralph.steer.r', '{"draft":7,"outgoing":');
  expect(stage(storage).outbox.draft).toBe('');
});
