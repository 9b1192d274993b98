import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PLACE, SESSION } from './dialect';
import { Script } from './script';
import { Server } from './server';

const ROOT = resolve(import.meta.dirname, '../..');

/** The program under test: the one that is named, or the newest that was built. */
function findRalph(): string {
  const named = process.env.RALPH_BIN;
  if (named) return resolve(named);
  const target = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
  const built = ['debug', 'release'].map((kind) => join(target, kind, 'ralph')).filter(existsSync);
  const newest = built.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (!newest) throw new Error('ralph is not built: cargo build -p ralph -p test_support --bins');
  return newest;
}

function findFakeClaude(): string {
  const target = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
  const places = [dirname(findRalph()), join(target, 'debug'), join(target, 'release')];
  const found = places.map((place) => join(place, 'fake_claude')).find(existsSync);
  if (!found) throw new Error('fake_claude is not built: cargo build -p test_support --bins');
  return found;
}

/** A place for a server, its runs and their workspaces. Everything that is started on it ends with it. */
export class Stage {
  private readonly root = mkdtempSync(join(tmpdir(), 'ralph-page-'));
  private readonly ralph = findRalph();
  private readonly children = new Set<ChildProcess>();
  private isClosed = false;
  private readonly onExit = () => this.closeNow();

  constructor() {
    mkdirSync(this.path('home'));
    // An agent that is not installed cannot be resumed; this one only has a version.
    mkdirSync(this.path('bin'));
    this.writeAgent(this.path('bin'), new Script());
    mkdirSync(this.path('state/ralph/runs'), { recursive: true, mode: 0o700 });
    process.once('exit', this.onExit);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Nothing of our own environment reaches what is started here. */
  private get environment(): Record<string, string> {
    return {
      PATH: `${this.path('bin')}:/usr/bin:/bin`,
      HOME: this.path('home'),
      XDG_STATE_HOME: this.path('state'),
      XDG_DATA_HOME: this.path('data'),
      XDG_CONFIG_HOME: this.path('config'),
      XDG_CACHE_HOME: this.path('cache'),
      // The tests may run as root.
      IS_SANDBOX: '1',
    };
  }

  /** A directory whose agent plays a script; `settings` are further lines of its `ralph.yml`. */
  workspace(name: string, script: Script | null, settings = ''): string {
    const workspace = this.path(`projects/${name}`);
    mkdirSync(workspace, { recursive: true });
    if (!script) {
      this.configure(workspace, `cli:\n  backend: demo\n${settings}`);
      return workspace;
    }
    const agent = this.path(`agents/${name}`);
    mkdirSync(agent, { recursive: true });
    const program = this.writeAgent(agent, script, workspace);
    const backend = settings.includes('backend:') ? '' : '  backend: claude\n';
    this.configure(workspace, `cli:\n${backend}  command: ${program}\n${settings}`);
    return workspace;
  }

  /** Writes a `ralph.yml` and trusts it. */
  configure(workspace: string, settings: string): void {
    writeFileSync(join(workspace, 'ralph.yml'), settings);
    this.run(['trust', '--yes', workspace]);
  }

  private writeAgent(directory: string, script: Script, workspace = '/'): string {
    // Two conversations of one name would be the same one.
    const text = JSON.stringify(script).replaceAll(SESSION, randomUUID()).replaceAll(PLACE, workspace);
    const [file, program] = [join(directory, 'script.json'), join(directory, 'claude')];
    writeFileSync(file, text);
    writeFileSync(program, `#!/bin/sh\nexec '${findFakeClaude()}' '--script=${file}' "$@"\n`, {
      mode: 0o700,
    });
    return program;
  }

  /** Lets an agent go on that waits for this file. */
  open(gate: string): void {
    writeFileSync(this.path(gate), '');
  }

  /** Runs the program to its end. */
  run(args: string[], directory = this.path('home')): string {
    const options = { env: this.environment, cwd: directory, encoding: 'utf8', timeout: 60_000 } as const;
    const ended = spawnSync(this.ralph, args, options);
    if (ended.status !== 0) throw new Error(`ralph ${args.join(' ')}: ${ended.stderr}`);
    return ended.stdout;
  }

  /** A server that can be used; on the port of an earlier one if that is given. */
  async serve(port = 0): Promise<Server> {
    const child = spawn(this.ralph, ['serve', '--port', String(port)], {
      env: this.environment,
      cwd: this.path('home'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.children.add(child);
    let complaints = '';
    child.stderr.on('data', (data) => {
      complaints += data;
    });
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (said.length === 2) break;
    }
    child.stdout.resume();
    const url = said[0]?.match(/^listening on (http:\/\/\S+)$/)?.[1];
    const loginLink = said[1]?.match(/(http:\/\/\S+\/login#code=\S+)$/)?.[1];
    if (!url || !loginLink) throw new Error(`the server did not start: ${said.join('\n')} ${complaints}`);
    const token = readFileSync(this.path('state/ralph/server-token'), 'utf8').trim();
    const server = new Server(child, url, loginLink, token);
    await server.becomesReady();
    if (!process.env.RALPH_BIN) await isTheBuiltPage(server);
    return server;
  }

  runDirectory(run: string): string {
    return this.path(`state/ralph/runs/${run}`);
  }

  /** The records of a run, as they are on disk. */
  journal(run: string): { seq: number; event: { type: string; data: Record<string, unknown> } }[] {
    const lines = readFileSync(join(this.runDirectory(run), 'journal.ndjson'), 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  /** Ends everything that was started here. */
  close(): void {
    process.off('exit', this.onExit);
    this.closeNow();
  }

  private closeNow(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const child of this.children) child.kill('SIGKILL');
    const options = { env: this.environment, cwd: this.root, timeout: 30_000 } as const;
    spawnSync(this.ralph, ['stop', '--all'], options);
    // Runs that end now still write their last records.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** A program that was built before the page would test the page of yesterday. */
async function isTheBuiltPage(server: Server): Promise<void> {
  const built = join(ROOT, 'web/dist/index.html');
  if (!existsSync(built)) throw new Error('the page is not built: make web');
  const served = await (await fetch(server.url)).text();
  if (served !== readFileSync(built, 'utf8')) {
    throw new Error('ralph has another page in it than web/dist: cargo build -p ralph');
  }
}
