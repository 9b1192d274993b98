import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, unwrap } from '../api/client';
import { fetchRecords } from '../api/records';
import type { RunStarted } from '../wire';
import type { AgentFacts } from './derive-agent';
import { proposedAgent, proposedBy, type RunForm, type Workspace } from './derive-form';
import type { Proposed } from './pin';

/** Where agents have worked lately. */
export function useWorkspaces(): { workspaces: Workspace[]; isPending: boolean; error: Error | null } {
  const { data, isPending, error } = useQuery({
    queryKey: ['workspaces'],
    queryFn: async ({ signal }) => (await unwrap(api.GET('/api/v1/workspaces', { signal }))).items,
    staleTime: 5_000,
  });
  return { workspaces: data ?? [], isPending, error };
}

async function startOf(run: string, signal: AbortSignal): Promise<RunStarted | null> {
  const { records } = await fetchRecords(run, { after: 0, limit: 1, kinds: 'run_started' }, signal);
  const event = records[0]?.event;
  return event?.type === 'run_started' ? event.data : null;
}

interface Proposal extends Proposed<Partial<RunForm>> {
  /** Why it is not known what the last run was asked. */
  error: Error | null;
}

/** What is proposed for a run in a workspace: what the last one there was asked to do, with an agent that is there. */
export function useProposal(workspace: Workspace | undefined, agents: AgentFacts[]): Proposal {
  const run = workspace?.last_run;
  const {
    data: last,
    isPending,
    error,
  } = useQuery({
    queryKey: ['run_started', run],
    queryFn: ({ signal }) => (run ? startOf(run, signal) : null),
    enabled: run !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const value = useMemo(
    () => (last ? proposedBy(last, agents) : { backend: proposedAgent(agents, workspace?.last_backend) }),
    [last, agents, workspace],
  );
  return { value, isReady: run === undefined || !isPending, error };
}
