import { readFileSync, writeSync } from 'node:fs';

/** What was measured, row by row, as soon as it is known; printed as the other tables of `make bench`. */
export class Table {
  constructor(private readonly part: string) {
    print('\n## The web page\n');
    print('| part | what | measured | owed | |');
    print('|---|---|---:|---:|---|');
    // Others may work on this machine, too; without this a figure means nothing.
    this.note('load of the machine at the start', readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? '');
  }

  /** Something that nothing is owed for. */
  note(what: string, value: string | number): void {
    print(`| ${this.part} | ${what} | ${typeof value === 'number' ? short(value) : value} | | |`);
  }

  /** Something that must not be more than this. */
  most(what: string, value: number, owed: number): void {
    print(
      `| ${this.part} | ${what} | ${short(value)} | ≤ ${short(owed)} | ${value <= owed ? '' : '**over**'} |`,
    );
  }
}

/** Past the test runner, which would put a heading before every line. */
function print(line: string): void {
  writeSync(1, `${line}\n`);
}

function short(value: number): string {
  return Number.isInteger(value) || value >= 1_000 ? value.toFixed(0) : value.toFixed(2);
}

/** The value that this share of them does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** What was asked for on the command line. */
export function given(name: 'minutes' | 'records' | 'rounds', otherwise: number): number {
  return Number(process.env[`BENCH_${name.toUpperCase()}`] ?? otherwise);
}
