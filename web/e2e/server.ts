import type { ChildProcess } from 'node:child_process';

/** Long enough for a slow machine; who waits for what comes pays nothing for it. */
const PATIENCE_MS = 60_000;

/** Waits until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const late = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > late) throw new Error(`it does not become so: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** A server, as a process, and what a script can ask it. */
export class Server {
  constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    /** Works once. */
    readonly loginLink: string,
    readonly token: string,
  ) {}

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async becomesReady(): Promise<void> {
    await until(async () => (await this.request('GET', '/ready')).status === 200, 'the server is ready');
  }

  request(method: string, path: string, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return fetch(this.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
  async ask(method: string, path: string, body?: unknown): Promise<any> {
    const response = await this.request(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  /** Starts a run of one iteration. Gives its id. */
  async start(workspace: string, more: object = {}): Promise<string> {
    const body = { workspace, prompt: 'Do it.', once: true, ...more };
    return (await this.ask('POST', '/api/v1/runs', body)).id;
  }

  /** Starts a conversation. */
  converse(workspace: string, more: object = {}): Promise<string> {
    return this.start(workspace, { kind: 'session', once: false, ...more });
  }

  /** Waits until the server knows that a run is so: `ended`, `idle`, `waiting`, … */
  async becomes(run: string, state: string): Promise<void> {
    await until(async () => {
      const response = await this.request('GET', `/api/v1/runs/${run}`);
      return response.ok && (await response.json()).activity.state === state;
    }, `run ${run} is ${state}`);
  }

  /** Waits until the server has indexed all of a run that was written by hand. */
  async knows(run: string, head: number): Promise<void> {
    await until(async () => {
      const response = await this.request('GET', `/api/v1/runs/${run}`);
      return response.ok && (await response.json()).head_seq >= head;
    }, `the server knows ${run}`);
  }

  /** As by `kill -9`: it says goodbye to nobody. */
  async kill(): Promise<void> {
    const isGone = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGKILL');
    await isGone;
  }
}
