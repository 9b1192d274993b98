import { expect, test } from 'vitest';
import { isFinished, SESSION, text, works } from './dialect';
import { openTheatre } from './theatre';

const theatre = openTheatre();

const system = (subtype: string, more: object) => ({ type: 'system', subtype, session_id: SESSION, ...more });
const limit = (info: object) => ({ type: 'rate_limit_event', rate_limit_info: info, session_id: SESSION });

test('retries, limits, a shortened conversation and notices have rows of their own', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(
      system('api_retry', {
        attempt: 1,
        max_retries: 10,
        retry_delay_ms: 620,
        error_status: 529,
        error: 'overloaded',
      }),
      limit({ status: 'allowed', rateLimitType: 'five_hour', utilization: 0.2 }),
      limit({ status: 'allowed_warning', rateLimitType: 'five_hour', utilization: 0.91 }),
      limit({ status: 'rejected', rateLimitType: 'seven_day', resetsAt: 1_800_000_000 }),
      system('compact_boundary', {
        compact_metadata: { trigger: 'auto', pre_tokens: 990_515, post_tokens: 2_538 },
      }),
      system('informational', { level: 'warning', content: 'The settings name an unknown tool.' }),
      system('notification', { text: 'A new version is there.' }),
    )
    .emit(text('All is told.'))
    .and(isFinished());
  const run = await server.start(stage.workspace('notices', script));
  await server.becomes(run, 'ended');
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('All is told.', visitor.activity);
  const row = (kind: string) => visitor.activity.locator(`article[data-kind=${kind}]`);
  await visitor.sees(/asked again in 620 ms \(1 of 10\)/, row('retry'));
  await visitor.sees(/overloaded/, row('retry'));
  // A limit that is far away is no news.
  expect(await row('rate_limit').count()).toBe(2);
  await visitor.sees(/limit is near.*91 % used/, row('rate_limit'));
  await visitor.sees(/limit is reached.*until/, row('rate_limit'));
  await row('compaction')
    .getByRole('button', { name: /The conversation was shortened/ })
    .click();
  await visitor.sees(/"before_tokens": 990515/, row('compaction'));
  await visitor.sees('The settings name an unknown tool.', row('notice'));
  await visitor.sees('A new version is there.', row('notice'));
  // They can be hidden as one.
  await visitor.page.getByRole('button', { name: 'Show', exact: true }).click();
  await visitor.page.getByRole('checkbox', { name: 'Notices' }).uncheck();
  await row('notice').first().waitFor({ state: 'detached' });
  for (const kind of ['retry', 'compaction', 'rate_limit']) expect(await row(kind).count(), kind).toBe(0);
});
