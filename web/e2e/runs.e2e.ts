import { expect, test } from 'vitest';
import { isFinished, works } from './dialect';
import { useTheatre } from './theatre';

const theatre = useTheatre();

test('a run appears in the list by itself, and its state is live', async () => {
  const { stage, server, visit } = theatre;
  const visitor = await visit();
  await visitor.go('/');
  await visitor.sees('No runs yet');
  const script = works().waitForFile(stage.path('live-gate')).then(isFinished());
  const workspace = stage.workspace('live', script);
  const run = await server.start(workspace, { prompt: 'Paint the fence.' });
  const link = visitor.page.locator(`a[data-run="${run}"]`);
  await link.waitFor();
  await visitor.sees('Paint the fence.', link);
  stage.open('live-gate');
  await link.getByText('Completed').waitFor();
  expect(await visitor.page.title()).toBe('Runs · ralph');
});
