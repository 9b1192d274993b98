import { backoffMs } from './backoff';
import { type FromClient, parseMessage, type ToClient } from './messages';

/** What the page shows about the connection. */
export type ConnectionState =
  | { is: 'connecting' }
  | { is: 'open' }
  | { is: 'waiting'; until: number }
  | { is: 'logged_out' };

export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  onerror: (() => void) | null;
  send(text: string): void;
  close(): void;
}

/** What the connection needs of the world; tests bring their own. */
export interface World {
  openSocket(): Socket;
  /** Asked when a connection fails: a browser does not say why. */
  probe(): Promise<'ok' | 'logged_out' | 'gone'>;
  now(): number;
  random(): number;
  setTimer(run: () => void, ms: number): unknown;
  clearTimer(timer: unknown): void;
}

/** The server says something every 15 seconds. Silence beyond this is a dead connection. */
export const SILENCE_MS = 40_000;

/** One WebSocket that is opened again whenever it breaks. Knows nothing of what is said over it. */
export class Connection {
  state: ConnectionState = { is: 'connecting' };
  private socket: Socket | null = null;
  private failures = 0;
  private timer: unknown = null;
  private isGreeted = false;
  private isEnded = false;

  constructor(
    private readonly world: World,
    private readonly handlers: {
      /** The server has greeted: say again what is wanted. */
      onReady(): void;
      onMessage(message: ToClient): void;
      onState(): void;
    },
  ) {}

  open(): void {
    if (this.isEnded) return;
    this.clearTimer();
    this.drop();
    this.set({ is: 'connecting' });
    let socket: Socket;
    try {
      socket = this.world.openSocket();
    } catch {
      this.lost();
      return;
    }
    this.socket = socket;
    this.watchSilence();
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.watchSilence();
      this.receive(event.data);
    };
    const gone = () => {
      if (socket === this.socket) this.lost();
    };
    socket.onclose = gone;
    socket.onerror = gone;
  }

  /** Says something; false if there is nobody to say it to. */
  send(message: FromClient): boolean {
    if (!this.socket || !this.isGreeted) return false;
    try {
      this.socket.send(JSON.stringify(message));
      return true;
    } catch {
      return false;
    }
  }

  /** Tries at once, as when a person asks for it or the network is back. */
  retryNow(): void {
    if (this.state.is !== 'open') this.open();
  }

  close(): void {
    this.isEnded = true;
    this.clearTimer();
    this.drop();
  }

  private receive(data: unknown): void {
    const message = parseMessage(data);
    if (!message) return;
    if (message.type === 'hello') {
      this.isGreeted = true;
      this.failures = 0;
      this.set({ is: 'open' });
      this.handlers.onReady();
      return;
    }
    this.handlers.onMessage(message);
  }

  private lost(): void {
    const wasGreeted = this.isGreeted;
    this.clearTimer();
    this.drop();
    if (this.isEnded) return;
    this.failures += 1;
    const wait = backoffMs(this.failures, this.world.random);
    this.set({ is: 'waiting', until: this.world.now() + wait });
    this.timer = this.world.setTimer(() => this.open(), wait);
    if (!wasGreeted) void this.askWhy();
  }

  private async askWhy(): Promise<void> {
    const failures = this.failures;
    if ((await this.world.probe()) !== 'logged_out') return;
    if (this.isEnded || this.state.is !== 'waiting' || failures !== this.failures) return;
    this.clearTimer();
    this.set({ is: 'logged_out' });
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = null;
    this.isGreeted = false;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    try {
      socket.close();
    } catch {
      // It is gone either way.
    }
  }

  private watchSilence(): void {
    this.clearTimer();
    this.timer = this.world.setTimer(() => this.lost(), SILENCE_MS);
  }

  private clearTimer(): void {
    if (this.timer !== null) this.world.clearTimer(this.timer);
    this.timer = null;
  }

  private set(state: ConnectionState): void {
    this.state = state;
    this.handlers.onState();
  }
}
