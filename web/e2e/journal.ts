import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './stage';

/** Writes whole runs as their journals are on disk: nobody waits for 100,000 records of an agent. */
export class JournalWriter {
  private seq = 0;
  private text = '';
  private readonly file: string;
  /** Milliseconds since the run's beginning. */
  private clock = 0;

  constructor(
    private readonly stage: Stage,
    readonly id: string,
    private readonly began = Date.parse('2026-11-16T03:00:00Z'),
    title = 'Do it.',
    workspace = '/home/user/project',
  ) {
    mkdirSync(this.draft, { recursive: true, mode: 0o700 });
    this.file = join(this.draft, 'journal.ndjson');
    writeFileSync(this.file, '');
    this.own('run_started', {
      format_version: 1,
      run_id: id,
      ralph_version: '0.1.0',
      workspace,
      backend: 'claude_code',
      display_name: 'Claude',
      max_iterations: 1,
    });
    this.own('iteration_started', { number: 1, prompt: title });
  }

  /** A run is put into place when it is whole: the server looks at once. */
  private get draft(): string {
    return this.stage.path(`drafts/${this.id}`);
  }

  get head(): number {
    return this.seq;
  }

  /** A record of ralph's own. */
  own(type: string, data: object, at?: string): number {
    return this.line({ type, data }, at);
  }

  /** A record of what the agent did. */
  agent(type: string, data: object, more: object = {}, at?: string): number {
    return this.line({ agent_kind: 'claude_code', ...more, type, data }, at);
  }

  private line(event: object, at?: string): number {
    this.seq += 1;
    this.clock += 5;
    const stamp = at ?? new Date(this.began + this.clock).toISOString();
    this.text += `${JSON.stringify({ seq: this.seq, at: stamp, iteration: 1, attempt: 1, event })}\n`;
    if (this.text.length > 1 << 20) this.flush();
    return this.seq;
  }

  flush(): void {
    appendFileSync(this.file, this.text);
    this.text = '';
  }

  /** Lets time pass. */
  pass(milliseconds: number): this {
    this.clock += milliseconds;
    return this;
  }

  end(more: object = {}, cost: object = {}): number {
    const totals = { tokens: {}, turns: 1, duration_ms: this.clock, ...cost };
    this.own('run_ended', { reason: 'completed', exit_code: 0, iterations: 1, totals, ...more });
    this.flush();
    renameSync(this.draft, this.stage.runDirectory(this.id));
    return this.seq;
  }
}

/** The word that only one record of a long run has. */
export const NEEDLE = 'chrysanthemum';

/** A run of about so many records, as long ones are: texts in pieces, calls, now and then an edit or an error. */
export function writeLongRun(stage: Stage, id: string, records: number): { head: number; needle: number } {
  const journal = new JournalWriter(stage, id, undefined, `A run of ${records} records`);
  let needle = 0;
  for (let round = 0; journal.head < records - 14; round += 1) {
    let whole = '';
    for (let piece = 0; piece < 9; piece += 1) {
      const text = `piece ${piece} of it, `;
      whole += text;
      journal.agent('delta', { item: `m${round}/0`, part: 'text', mode: 'append', text });
    }
    whole += `as text ${round}.\n\n- one\n- \`two\`\n`;
    if (needle === 0 && journal.head > records / 3) whole += NEEDLE;
    const seq = journal.agent('text_block', { item: `m${round}/0`, text: whole });
    if (whole.endsWith(NEEDLE)) needle = seq;
    const item = `c${round}`;
    if (round % 50 === 7) {
      const input = { file_path: `/home/user/project/src/part${round}.rs`, old_string: 'a', new_string: 'b' };
      journal.agent('tool_started', {
        item,
        name: 'Edit',
        kind: 'edit',
        subject: input.file_path,
        input,
        state: 'running',
      });
      const diff = '@@ -1,2 +1,2 @@\n fn part() {\n-    a\n+    b\n';
      const changes = [{ path: input.file_path, kind: 'modified', diff, lines: [1, 1] }];
      journal.agent('tool_finished', { item, status: 'completed', output: 'Done.', changes });
    } else {
      const isFailed = round % 400 === 9;
      const command = `cargo test part_${round}`;
      journal.agent('tool_started', {
        item,
        name: 'Bash',
        kind: 'execute',
        subject: command,
        input: { command },
        state: 'running',
      });
      const output = 'some words of an output\n'.repeat(12);
      journal.agent('tool_finished', { item, status: isFailed ? 'failed' : 'completed', output });
    }
    if (round % 400 === 13) journal.agent('error', { kind: 'api', message: `Error of round ${round}` });
  }
  return { head: journal.end(), needle };
}
