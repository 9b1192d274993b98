import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, unwrap } from '../../api/client';
import { useInbox } from '../../stream/browser';
import type { Approval } from '../../wire';
import { problemWords } from '../derive-problem';
import { mergePending } from './derive-pending';

export interface Pending {
  /** The oldest first. */
  approvals: Approval[];
  /** Why not everything about them could be loaded. */
  problem: string | null;
  reload: () => void;
}

/** What waits for an answer in a run. */
export function usePending(run: string): Pending {
  const inbox = useInbox();
  const own = useMemo(() => inbox.approvals.filter((each) => each.run === run), [inbox, run]);
  // The feed leaves out what is long, and tells only the first of many.
  const isPartial = inbox.count > inbox.approvals.length || own.some((each) => each.data === null);
  const seen = own.map((each) => each.request).join(' ');
  const { data, error, refetch } = useQuery({
    queryKey: ['approvals', run, seen, inbox.count],
    queryFn: async ({ signal }) => {
      const query = { run, pending: true };
      const page = await unwrap(api.GET('/api/v1/approvals', { params: { query }, signal }));
      return page.items as unknown as Approval[];
    },
    enabled: isPartial,
    // What waited a moment ago most likely still does; what waits in another run does not wait here.
    placeholderData: (before, query) => (query?.queryKey[1] === run ? before : undefined),
  });
  const approvals = useMemo(() => mergePending(own, isPartial ? data : undefined), [own, isPartial, data]);
  return {
    approvals,
    problem: isPartial && error ? problemWords(error) : null,
    reload: () => void refetch(),
  };
}
