import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answered, asks, isFinished, text, thinking, toolResult, toolUse, works } from './dialect';
import { takePicture } from './pictures';
import type { Script } from './script';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

const theatre = openTheatre();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const BEFORE = 'fn greet(name: &str) -> String {\n    format!("Helo {name}")\n}\n';
const AFTER = 'fn greet(name: &str) -> String {\n    format!("Hello {name}")\n}\n';

/** Some of everything that a run can show. */
function everything(gate: string): Script {
  const path = '/home/me/project/src/greet.rs';
  const edit = { file_path: path, old_string: '"Helo', new_string: '"Hello' };
  const patch = [
    {
      oldStart: 1,
      oldLines: 3,
      newStart: 1,
      newLines: 3,
      lines: [
        ' fn greet(name: &str) -> String {',
        '-    format!("Helo {name}")',
        '+    format!("Hello {name}")',
        ' }',
      ],
    },
  ];
  const twin = { filePath: path, oldString: BEFORE, newString: AFTER, structuredPatch: patch };
  const todos = [
    { content: 'Read the test', status: 'completed', activeForm: 'Reading' },
    { content: 'Fix the greeting', status: 'in_progress', activeForm: 'Fixing' },
    { content: 'Run the tests', status: 'pending', activeForm: 'Running' },
  ];
  return works()
    .emit(thinking('The test names a function that I should read before I change anything.'))
    .emit(
      text(
        'I will look at the **failing test** first:\n\n1. read it\n2. fix `greet`\n\n| file | state |\n|---|---|\n| greet.rs | wrong |',
      ),
    )
    .emit(toolUse('todo', 'TodoWrite', { todos }), toolResult('todo', 'Todos have been modified.'))
    .emit(
      toolUse('read', 'Read', { file_path: path }),
      toolResult('read', BEFORE.replaceAll(/^/gm, '     1→')),
    )
    .emit(
      toolUse('grep', 'Grep', { pattern: 'Helo' }),
      toolResult('grep', `${path}:2:    format!("Helo {name}")`),
    )
    .emit(toolUse('fail', 'Bash', { command: 'cargo test', description: 'Run the tests' }))
    .emit(
      toolResult('fail', 'Exit code 101\n\u001b[31mfailed\u001b[0m: left "Helo", right "Hello"', {
        isError: true,
      }),
    )
    .emit(text('A missing letter.'))
    .emit(toolUse('edit', 'Edit', edit), toolResult('edit', 'The file has been updated.', { twin }))
    .emit(asks('run', 'Bash', { command: 'cargo test --workspace', description: 'Run all tests' }))
    .expectLine(answered('run'))
    .waitForFile(gate)
    .and(isFinished());
}

let run = '';
beforeAll(async () => {
  const { stage, server } = theatre;
  const done = stage.workspace('website', works().emit(text('The colours are changed.')).and(isFinished()));
  await server.becomes(await server.start(done, { prompt: 'Use calmer colours on the start page' }), 'ended');
  const other = works()
    .emit(toolUse('b', 'Bash', { command: 'npm run build' }))
    .waitForFile(stage.path('gate'));
  await server.start(stage.workspace('server', other.and(isFinished())), {
    prompt: 'Upgrade the web framework',
  });
  const script = everything(stage.path('gate'));
  run = await server.start(stage.workspace('greeter', script), {
    prompt: 'Make the failing test of the greeter pass',
  });
  await server.becomes(run, 'waiting');
});
afterAll(() => theatre.stage.open('gate'));

/** Waits until nothing loads any more that was asked for later: highlighting, diffs, markdown. */
async function settles(visitor: Visitor): Promise<void> {
  await visitor.page.waitForLoadState('networkidle');
  await visitor.page.evaluate(() => document.fonts.ready.then(() => undefined));
}

const VIEWS: Record<string, (visitor: Visitor) => Promise<void>> = {
  runs: async (visitor) => {
    await visitor.go('/');
    await visitor.sees('Needs you');
  },
  run: async (visitor) => {
    await visitor.go(`/runs/${run}`);
    await visitor.sees('cargo test --workspace', visitor.page.getByRole('region', { name: 'Waits for you' }));
    await visitor.page
      .getByRole('figure', { name: /^Changes in/ })
      .first()
      .waitFor();
  },
  find: async (visitor) => {
    await visitor.go(`/runs/${run}?find=greet`);
    await visitor.sees(/^\d+ records/);
  },
  files: async (visitor) => {
    await visitor.go(`/runs/${run}?view=files`);
    await visitor.sees('1 file changed');
  },
  new: async (visitor) => {
    await visitor.go('/?new=1');
    await visitor.page
      .getByRole('dialog', { name: 'New run' })
      .getByRole('radio', { name: /^Demo/ })
      .waitFor();
  },
  keys: async (visitor) => {
    await visitor.go('/');
    await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
    await visitor.press('?');
    await visitor.page.getByRole('dialog', { name: 'Keys' }).waitFor();
  },
  nothing: async (visitor) => {
    visitor.expectFault(/status of 404/);
    await visitor.go('/runs/20200101-000000-ffffff');
    await visitor.sees('There is no such run');
  },
};

/** What the documents show. */
const PICTURES = new Set(['runs-light', 'run-light', 'run-dark', 'files-light', 'new-dark', 'run-phone']);

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What is serious or worse by axe, in words. */
async function violationsIn(visitor: Visitor): Promise<string[]> {
  // Given by the debugger, which the page's policy does not concern: it forbids script elements.
  const session = await visitor.context.newCDPSession(visitor.page);
  await session.send('Runtime.evaluate', { expression: axe });
  const found = await visitor.page.evaluate(async () => {
    type Report = { violations: Violation[]; passes: unknown[] };
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<Report> } };
    const { violations, passes } = await axe.run();
    return { violations, passes: passes.length };
  });
  await session.detach();
  // A tool that looked at nothing finds nothing.
  expect(found.passes).toBeGreaterThan(15);
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

for (const theme of ['dark', 'light'] as const) {
  test(`every view is accessible in the ${theme} theme`, async () => {
    const visitor = await theatre.visit({ theme });
    for (const [name, open] of Object.entries(VIEWS)) {
      await open(visitor);
      await settles(visitor);
      expect(await violationsIn(visitor), name).toEqual([]);
      if (PICTURES.has(`${name}-${theme}`)) await takePicture(visitor, `${name}-${theme}`);
    }
  });
}

test('every view fits on a phone', async () => {
  const visitor = await theatre.visit({ width: 375, height: 720, isTouch: true });
  for (const [name, open] of Object.entries(VIEWS)) {
    await open(visitor);
    await settles(visitor);
    expect(await visitor.isTooWide(), name).toBe(false);
    expect(await violationsIn(visitor), name).toEqual([]);
    if (PICTURES.has(`${name}-phone`)) await takePicture(visitor, `${name}-phone`);
  }
});

test('an agent asks, and a phone answers', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(asks('p', 'Bash', { command: 'make phone' }))
    .expectLine(answered('p'));
  const asked = await server.start(stage.workspace('phone', script.and(isFinished())));
  const visitor = await visit({ width: 375, height: 720, isTouch: true });
  await visitor.go(`/runs/${asked}`);
  const waits = visitor.page.getByRole('region', { name: 'Waits for you' });
  await waits.getByText('make phone').waitFor();
  await waits.getByRole('button', { name: 'Allow once' }).tap();
  await server.becomes(asked, 'ended');
  await visitor.sees('This run has ended.');
});
