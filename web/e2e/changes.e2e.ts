import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { init, result, text } from './dialect';
import { Script } from './script';
import { openTheatre } from './theatre';

const theatre = openTheatre(() => {});

test('in a git repository the files that commands changed are shown, and what tools reported', async () => {
  const { stage, server, visit } = theatre;
  const script = new Script()
    .readLine()
    .emit(init())
    // As a command does, without a word about it.
    .createFile(stage.path('projects/net/made.txt'))
    .emit(text('Done.'), result())
    .exit(0);
  const workspace = stage.workspace('net', script);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.invalid', ...args], {
      cwd: workspace,
      stdio: 'ignore',
    });
  git('init');
  writeFileSync(join(workspace, 'a.txt'), 'one\n');
  git('add', '--all');
  git('commit', '--message', 'x');
  const run = await server.start(workspace);
  await server.becomes(run, 'ended');
  writeFileSync(join(workspace, 'a.txt'), 'two\n');
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('Done.');
  await visitor.button('Files changed').click();
  const files = visitor.page.getByRole('region', { name: 'Files changed' });
  await visitor.sees('made.txt', files);
  await visitor.sees(/Compared with commit/, files);
  await files.getByRole('figure', { name: 'Changes in a.txt' }).waitFor();
  await files.getByRole('button', { name: 'Show what tool calls reported' }).click();
  await visitor.sees(/No tool call has reported a changed file/);
  await visitor.button('Show the net changes').click();
  await visitor.sees('made.txt', files);
});
