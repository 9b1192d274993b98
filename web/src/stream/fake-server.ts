import type { Socket, World } from './connection';
import type { FromClient, RunRecord, ToClient } from './messages';

/** A record of which only the number matters. */
export function record(seq: number): RunRecord {
  const event = { type: 'warned', data: { kind: 'degraded', message: `${seq}` } } as const;
  return { seq, at: '2026-01-01T00:00:00Z', iteration: 1, attempt: 1, event };
}

/** A server for tests: a journal of `head` records, and a line that breaks after so many messages. */
export class FakeServer implements World {
  head = 0;
  epoch = 'e1';
  frameLength = 3;
  /** The line breaks once, after this many messages of the server. */
  cutAfter = Number.POSITIVE_INFINITY;
  login: 'ok' | 'logged_out' | 'gone' = 'ok';
  isUp = true;
  sockets = 0;
  said: FromClient[] = [];
  done: string[] = [];
  private last: Socket | null = null;
  private sent = 0;
  private clock = 0;
  private timers: { run: () => void; at: number }[] = [];
  private queue: (() => void)[] = [];

  openSocket(): Socket {
    this.sockets += 1;
    const socket: Socket = {
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
      send: (text) => this.receive(socket, JSON.parse(text) as FromClient),
      close: () => {},
    };
    this.last = socket;
    if (this.isUp) this.tell(socket, { type: 'hello', protocol: 1, server: 'fake' });
    else this.queue.push(() => socket.onclose?.());
    return socket;
  }

  probe = async () => this.login;
  now = () => this.clock;
  random = () => 0.5;

  setTimer(run: () => void, ms: number) {
    const timer = { run, at: this.clock + ms };
    this.timers.push(timer);
    return timer;
  }

  clearTimer(timer: unknown) {
    this.timers = this.timers.filter((each) => each !== timer);
  }

  /** Lets everything happen that is under way, and time pass. */
  async pass(ms: number): Promise<void> {
    const end = this.clock + ms;
    for (;;) {
      await this.settle();
      const next = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.clearTimer(next);
      this.clock = Math.max(this.clock, next.at);
      next.run();
    }
    this.clock = end;
  }

  async settle(): Promise<void> {
    for (;;) {
      await Promise.resolve();
      await Promise.resolve();
      const step = this.queue.shift();
      if (!step) return;
      step();
    }
  }

  tell(socket: Socket, message: ToClient): void {
    this.queue.push(() => {
      if (!socket.onmessage) return;
      this.sent += 1;
      if (this.sent > this.cutAfter) {
        this.cutAfter = Number.POSITIVE_INFINITY;
        socket.onclose?.();
        return;
      }
      socket.onmessage({ data: JSON.stringify(message) });
    });
  }

  /** Says something on the newest connection. */
  say(message: ToClient): void {
    if (this.last) this.tell(this.last, message);
  }

  breakLine(): void {
    this.last?.onclose?.();
  }

  private receive(socket: Socket, message: FromClient): void {
    this.said.push(message);
    if (message.type === 'subscribe' && 'run' in message) {
      const { run, id } = message;
      const { epoch, head } = this;
      // What was read of another journal says nothing of this one: it goes on from the end, without a word about it.
      let after = (message.epoch ?? epoch) === epoch ? (message.after ?? head) : head;
      this.tell(socket, { type: 'subscribed', run, epoch, after, head, ...(id && { id }) });
      while (after < head) {
        const to = Math.min(head, after + this.frameLength);
        const records = Array.from({ length: to - after }, (_, index) => record(after + 1 + index));
        this.tell(socket, { type: 'records', run, epoch, from: after + 1, to, records });
        after = to;
      }
    }
    if (message.type === 'command') {
      if (!this.done.includes(message.id)) this.done.push(message.id);
      this.tell(socket, { type: 'receipt', id: message.id, run: message.run, receipt: { note: 'done' } });
    }
  }
}
