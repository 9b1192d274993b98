import type { AgentFacts } from '../new-run/derive-agent';
import type { Approval, RunSummary } from '../wire';

export function summary(change: Partial<RunSummary> = {}): RunSummary {
  return {
    id: 'r1',
    epoch: 'e',
    kind: 'session',
    workspace: '/projects/alpha',
    backend: 'claude_code',
    display_name: 'Claude',
    model: 'opus',
    permission_mode: 'default',
    title: 'Fix it',
    activity: { state: 'thinking' },
    session_ids: ['s1'],
    is_ephemeral: false,
    pending: 0,
    ...change,
  } as RunSummary;
}

export function agent(change: Partial<AgentFacts> = {}): AgentFacts {
  return {
    name: 'claude_code',
    displayName: 'Claude',
    isInstalled: true,
    version: '2.1',
    problem: null,
    takesMessages: true,
    takesModel: true,
    models: ['opus', 'sonnet'],
    permissionModes: ['ask', 'accept_edits', 'plan', 'refuse', 'bypass'],
    canResume: true,
    canFork: true,
    limits: ['cost', 'tokens', 'turns'],
    ...change,
  };
}

export function approval(kind: Approval['kind'], data: unknown, change: Partial<Approval> = {}): Approval {
  const request = (data as { request?: string } | null)?.request ?? 'q1';
  const approval = { run: 'r1', request, kind, seq: 5, asked_at: '2026-01-01T00:00:00Z', data, ...change };
  return approval as Approval;
}

export const BASH = {
  request: 'p1',
  tool: 'Bash',
  kind: 'execute',
  subject: 'rm -rf build',
  input: { command: 'rm -rf build' },
} as const;
