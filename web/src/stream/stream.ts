import type { ControlCommand, Receipt, RunSummary } from '../wire';
import { Commands } from './commands';
import { Connection, type ConnectionState, type World } from './connection';
import { Feeds, type InboxState } from './feeds';
import type { FromClient, ToClient } from './messages';
import { type RunListener, RunWatch } from './run-watch';

/** The one connection of the page: what is watched, and what is said to runs. It survives every loss of the line. */
export class Stream {
  private readonly connection: Connection;
  private readonly runs = new Map<string, RunWatch>();
  private readonly feeds: Feeds;
  private readonly commands: Commands;
  private readonly listeners = new Set<() => void>();

  constructor(world: World) {
    const send = (message: FromClient) => this.connection.send(message);
    this.feeds = new Feeds(send);
    this.commands = new Commands(send);
    this.connection = new Connection(world, {
      onReady: () => this.sayAgain(),
      onMessage: (message) => this.receive(message),
      onState: () => {
        if (this.connection.state.is !== 'open') this.commands.lost();
        for (const listener of this.listeners) listener();
      },
    });
  }

  start(): void {
    this.connection.open();
  }

  close(): void {
    this.connection.close();
  }

  retryNow(): void {
    this.connection.retryNow();
  }

  connectionState = (): ConnectionState => this.connection.state;

  onConnection = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Tells the records of a run after `after`, which came from the journal `epoch`. One watcher per run. */
  watchRun(run: string, after: number, epoch: string, listener: RunListener): () => void {
    const watch = new RunWatch(run, after, epoch, listener, (message) => this.connection.send(message));
    this.runs.set(run, watch);
    watch.subscribe();
    return () => {
      if (this.runs.get(run) !== watch) return;
      this.runs.delete(run);
      this.connection.send({ type: 'unsubscribe', run });
    };
  }

  watchRuns = (listener: () => void): (() => void) => this.feeds.watch('runs', listener);

  watchInbox = (listener: () => void): (() => void) => this.feeds.watch('inbox', listener);

  /** What the server has told about runs since the page was opened, by their ids. A new map when it changes. */
  liveRuns = (): ReadonlyMap<string, RunSummary> => this.feeds.runs;

  /** Those of them that the server no longer tells of. */
  leftRuns = (): ReadonlySet<string> => this.feeds.left;

  letGo(runs: Iterable<string>): void {
    this.feeds.letGo(runs);
  }

  inbox = (): InboxState => this.feeds.inbox;

  /**
   * Tells a run something. For what is right also later the promise is kept over a loss of the connection: the command
   * is repeated, and done once. All else fails when there is no connection, or it is lost before the answer.
   * `id` is that of an earlier try, if there was one.
   */
  command(run: string, command: ControlCommand, id?: string): Promise<Receipt> {
    return this.commands.say(run, command, id);
  }

  private sayAgain(): void {
    this.feeds.subscribe();
    for (const watch of this.runs.values()) watch.subscribe();
    this.commands.repeat();
  }

  private receive(message: ToClient): void {
    switch (message.type) {
      case 'records':
      case 'reset':
      case 'lagged':
        this.runs.get(message.run)?.receive(message);
        break;
      case 'closed': {
        const watch = this.runs.get(message.run);
        this.runs.delete(message.run);
        watch?.deleted();
        break;
      }
      case 'subscribed':
        if ('run' in message) this.runs.get(message.run)?.receive(message);
        break;
      case 'heartbeat':
        for (const [run, head] of message.heads) this.runs.get(run)?.heard(head);
        break;
      case 'runs':
      case 'runs_changed':
      case 'inbox':
        this.feeds.receive(message);
        break;
      case 'receipt':
      case 'error':
        this.commands.receive(message);
        if (message.type === 'error') this.refused(message.id, message.message);
        break;
      default:
        break;
    }
  }

  /** An error about a subscription carries its id. */
  private refused(id: string | null | undefined, why: string): void {
    for (const watch of this.runs.values()) {
      if (id && watch.id === id) watch.refused(why);
    }
  }
}
