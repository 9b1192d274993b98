// Starts the measurements: `npm run bench -- [open|scroll|deltas] [--minutes N] [--records N] [--rounds N]`.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const KNOWN = ['minutes', 'records', 'rounds'];
const environment = { ...process.env };
const parts = [];
const given = process.argv.slice(2);
while (given.length > 0) {
  const word = given.shift();
  const name = word.startsWith('--') ? word.slice(2) : null;
  if (name === null && ['open', 'scroll', 'deltas'].includes(word)) parts.push(`bench/${word}.bench.ts`);
  else if (name !== null && KNOWN.includes(name) && Number(given[0]) > 0) {
    environment[`BENCH_${name.toUpperCase()}`] = given.shift();
  } else {
    process.stderr.write(
      'usage: npm run bench -- [open|scroll|deltas] [--minutes N] [--records N] [--rounds N]\n',
    );
    process.exit(2);
  }
}
const vitest = resolve(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
const args = [vitest, 'run', '--config', 'vitest.bench.config.ts', ...parts];
const ended = spawnSync(process.execPath, args, {
  stdio: 'inherit',
  env: environment,
  cwd: resolve(import.meta.dirname, '..'),
});
process.exit(ended.status ?? 1);
