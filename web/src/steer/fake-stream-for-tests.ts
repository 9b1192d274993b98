import { useSyncExternalStore } from 'react';
import { CommandError } from '../stream/commands';
import type { InboxState } from '../stream/feeds';
import type { Approval, ControlCommand, Receipt, RunSummary } from '../wire';

interface Said {
  run: string;
  command: ControlCommand;
  resolve: (receipt: Receipt) => void;
  reject: (error: CommandError) => void;
}

/** The page's connection for tests: what was said is written down, and the test says what comes of it. */
class FakeStream {
  said: Said[] = [];
  private inboxState: InboxState = { count: 0, approvals: [] };
  private runs: ReadonlyMap<string, RunSummary> = new Map();
  private readonly listeners = new Set<() => void>();

  command = (run: string, command: ControlCommand): Promise<Receipt> =>
    new Promise((resolve, reject) => {
      this.said.push({ run, command, resolve, reject });
    });

  commands = (): ControlCommand[] => this.said.map(({ command }) => command);

  /** The last command is taken. */
  take(receipt: Receipt = {}): void {
    this.said.at(-1)?.resolve(receipt);
  }

  refuse(code: string, message: string): void {
    this.said.at(-1)?.reject(new CommandError(code, message));
  }

  ask(...approvals: Approval[]): void {
    this.inboxState = { count: approvals.length, approvals };
    for (const listener of this.listeners) listener();
  }

  /** More wait than the feed tells of. */
  waitMore(count: number): void {
    this.inboxState = { ...this.inboxState, count };
    for (const listener of this.listeners) listener();
  }

  tell(...runs: RunSummary[]): void {
    this.runs = new Map(runs.map((run) => [run.id, run]));
    for (const listener of this.listeners) listener();
  }

  /** What an earlier test has said and nobody answered is over. */
  reset(): void {
    for (const { reject } of this.said) reject(new CommandError('connection_lost', 'the test has ended'));
    this.said = [];
    this.inboxState = { count: 0, approvals: [] };
    this.runs = new Map();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  inbox = () => this.inboxState;
  liveRuns = () => this.runs;
}

export const fake = new FakeStream();

/** Stands in for `stream/browser`. */
export const browser = {
  stream: fake,
  useInbox: () => useSyncExternalStore(fake.subscribe, fake.inbox),
  useLiveRuns: () => useSyncExternalStore(fake.subscribe, fake.liveRuns),
  useConnection: () => ({ is: 'open' }),
};
