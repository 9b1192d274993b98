import { onlineManager } from '@tanstack/react-query';
import { afterEach, expect, test } from 'vitest';
import { ApiError } from './error';
import { newQueries } from './queries';

afterEach(() => onlineManager.setOnline(true));

test('the server is asked and told things while the browser has no network', async () => {
  onlineManager.setOnline(false);
  const queries = newQueries();
  expect(await queries.fetchQuery({ queryKey: ['a'], queryFn: async () => 1 })).toBe(1);
  const mutation = queries.getMutationCache().build(queries, { mutationFn: async () => 2 });
  expect(await mutation.execute(undefined)).toBe(2);
});

test('a refusal is not asked for again', async () => {
  let asked = 0;
  const refused = newQueries().fetchQuery({
    queryKey: ['a'],
    queryFn: async () => {
      asked += 1;
      throw new ApiError(404, 'run_not_found', 'no such run');
    },
  });
  await expect(refused).rejects.toThrow('no such run');
  expect(asked).toBe(1);
});
