import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, unwrap } from '../../api/client';
import { useInbox } from '../../stream/browser';
import type { Approval } from '../../wire';
import { mergePending } from './derive-pending';

/** What waits for an answer in a run, the oldest first. */
export function usePending(run: string): Approval[] {
  const inbox = useInbox();
  const own = useMemo(() => inbox.approvals.filter((each) => each.run === run), [inbox, run]);
  // The feed leaves out what is long, and tells only the first of many.
  const isPartial = inbox.count > inbox.approvals.length || own.some((each) => each.data === null);
  const seen = own.map((each) => each.request).join(' ');
  const { data } = useQuery({
    queryKey: ['approvals', run, seen, inbox.count],
    queryFn: async ({ signal }) => {
      const query = { run, pending: true };
      const page = await unwrap(api.GET('/api/v1/approvals', { params: { query }, signal }));
      return page.items as unknown as Approval[];
    },
    enabled: isPartial,
  });
  return useMemo(() => mergePending(own, isPartial ? data : undefined), [own, isPartial, data]);
}
