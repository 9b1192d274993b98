/** The scripts that `fake_claude` plays: crates/test_support/src/script/step.rs says what each step does. */
export type Step = { step: string; [key: string]: unknown };

/** Whether the pictures of the documents are made anew. */
export function isForPictures(): boolean {
  return process.env.UPDATE_SCREENSHOTS === '1';
}

/** Builds a script step by step. */
export class Script {
  readonly steps: Step[] = [];

  /** Adds any step. */
  step(step: Step): this {
    this.steps.push(step);
    return this;
  }

  /** Writes lines, one write call each. */
  emit(...lines: (object | string)[]): this {
    for (const line of lines) {
      const text = `${typeof line === 'string' ? line : JSON.stringify(line)}\n`;
      this.step({ step: 'write', stream: 'stdout', data: { text } });
    }
    return this;
  }

  /** Writes a line with what was read last in it, by `${/json/pointer}`. */
  answer(...lines: object[]): this {
    for (const line of lines) this.step({ step: 'answer', template: JSON.stringify(line) });
    return this;
  }

  readLine(): this {
    return this.step({ step: 'read_line', expect: null });
  }

  /** Reads a line, which must include this. */
  expectLine(part: object): this {
    return this.step({ step: 'read_line', expect: part });
  }

  waitForFile(path: string): this {
    return this.step({ step: 'wait_for_file', path });
  }

  /** Lets time pass where somebody looks at the times: in the pictures for the documents. */
  pause(milliseconds: number): this {
    return isForPictures() ? this.step({ step: 'pause', milliseconds }) : this;
  }

  createFile(path: string): this {
    return this.step({ step: 'create_file', path });
  }

  /** Reads stdin to its end: the agent leaves when it is told that nothing more comes. */
  readToEnd(): this {
    return this.step({ step: 'read_to_end' });
  }

  /** Reads lines to the end; each plays the first case that it includes. */
  converse(...cases: [object, Script][]): this {
    return this.step({
      step: 'converse',
      cases: cases.map(([includes, script]) => ({ includes, steps: script.steps })),
    });
  }

  exit(code: number): this {
    return this.step({ step: 'exit', code });
  }

  and(other: Script): this {
    this.steps.push(...other.steps);
    return this;
  }

  toJSON(): object {
    return { version: '2.1.325 (Claude Code)', steps: this.steps };
  }
}
