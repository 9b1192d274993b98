import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, unwrap } from '../api/client';
import { type AgentFacts, agentOf, OWN_COMMAND, sortAgents } from './derive-agent';

/** The agents that there are, with the settings of a workspace if one is named; those that can be used first. */
export function useAgents(workspace?: string): {
  agents: AgentFacts[];
  isPending: boolean;
  error: Error | null;
  refetch: () => void;
} {
  const { data, isPending, error, refetch } = useQuery({
    queryKey: ['backends', workspace ?? null],
    queryFn: async ({ signal }) => {
      const params = { query: workspace === undefined ? {} : { workspace } };
      return (await unwrap(api.GET('/api/v1/backends', { params, signal }))).items;
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  const agents = useMemo(() => sortAgents((data ?? []).map(agentOf)), [data]);
  return { agents, isPending, error, refetch: () => void refetch() };
}

/** The agent of a run; none while that is not known. */
export function useAgent(name: string | undefined): AgentFacts | undefined {
  const { agents } = useAgents();
  if (name === OWN_COMMAND.name) return OWN_COMMAND;
  return agents.find((agent) => agent.name === name);
}
