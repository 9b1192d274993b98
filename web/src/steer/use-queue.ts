import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { api, unwrap } from '../api/client';
import type { RunFeed } from '../run/run-feed';
import type { RunSummary } from '../wire';
import { beforeTheList, deriveQueue, messagesOfRows, type QueuedMessage, splitQueue } from './derive-queue';
import type { Outbox } from './outbox';

/** Where the activity does not say what becomes of a message, the server is asked this often. */
const LOOK_MS = 3_000;

/** The messages to a run, as they are now. */
export function useQueue(id: string, run: RunSummary | undefined, feed: RunFeed, outbox: Outbox) {
  const queries = useQueryClient();
  // Rows are changed in place, so only the version tells that they were.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  const found = useMemo(() => messagesOfRows(feed.builder.table.top), [feed.version, feed]);
  const seen = found.map((each) => `${each.id}:${each.state}:${each.text}`).join('\n');
  // The activity changes many times a second, the messages hardly ever.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  const rows = useMemo(() => found, [seen]);
  const { data, isPending } = useQuery({
    queryKey: ['queue', id],
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET('/api/v1/runs/{id}/messages', { params: { path: { id } }, signal }))).items,
    // What waits may be out of the activity that is loaded.
    refetchInterval: ({ state }) => {
      const isOpen = state.data?.some((each) => each.state === 'queued' || each.state === 'sent');
      return isOpen && run?.activity.state !== 'ended' ? LOOK_MS : false;
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is another one when the activity tells of a message.
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ['queue', id] });
  }, [seen, id, queries]);
  const hasEnded = run?.activity.state === 'ended';
  const { outgoing } = outbox;
  const messages: QueuedMessage[] = useMemo(
    () => deriveQueue(data ?? [], rows, isPending ? beforeTheList(outgoing) : outgoing, hasEnded),
    [data, rows, outgoing, isPending, hasEnded],
  );
  useEffect(() => {
    const stored = (data ?? []).map((each) => ({ id: each.id, commandId: each.command_id }));
    outbox.forget([...rows, ...stored]);
  }, [outbox, rows, data]);
  return useMemo(() => splitQueue(messages, run), [messages, run]);
}
