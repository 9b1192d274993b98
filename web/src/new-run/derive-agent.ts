import type { Backend } from '../api/client';
import type { PermissionChoice } from '../wire';

/** What is known of an agent, and what it can do. */
export interface AgentFacts {
  name: string;
  displayName: string;
  isInstalled: boolean;
  version: string | null;
  /** What is wrong, and what to do. */
  problem: string | null;
  takesMessages: boolean;
  takesModel: boolean;
  /** Models of its last runs, the newest first. */
  models: string[];
  permissionModes: PermissionChoice[];
  canResume: boolean;
  canFork: boolean;
  /** The limits that it can keep: it reports what they count, or counts by itself. */
  limits: readonly AgentLimit[];
}

/** Limits that not every agent can keep. */
export type AgentLimit = 'cost' | 'tokens' | 'turns';

/** The capabilities that each of these limits needs: one of them is enough. A cost can be estimated from tokens. */
const LIMIT_CAPABILITIES: Record<AgentLimit, readonly string[]> = {
  cost: ['agent_api.usage.cost.v1', 'agent_api.usage.tokens.v1'],
  tokens: ['agent_api.usage.tokens.v1'],
  turns: ['agent_api.config.limits.v1'],
};

function limitsOf(capabilities: readonly string[]): AgentLimit[] {
  const limits = Object.keys(LIMIT_CAPABILITIES) as AgentLimit[];
  return limits.filter((limit) => LIMIT_CAPABILITIES[limit].some((id) => capabilities.includes(id)));
}

/** Whether a limit means something to the agent; all do while it is not known which agent it will be. */
export function keepsLimit(agent: AgentFacts | undefined, limit: string): boolean {
  const isOptional = limit in LIMIT_CAPABILITIES;
  return !agent || !isOptional || agent.limits.includes(limit as AgentLimit);
}

export function agentOf(backend: Backend): AgentFacts {
  return {
    name: backend.name,
    displayName: backend.display_name,
    isInstalled: backend.is_installed,
    version: backend.version ?? null,
    problem: backend.problem ?? null,
    takesMessages: backend.takes_messages,
    takesModel: backend.takes_model,
    models: backend.models,
    permissionModes: backend.permission_modes,
    canResume: backend.can_resume,
    canFork: backend.can_fork,
    limits: limitsOf(backend.capabilities),
  };
}

/** A command of the user's own, `custom` in a workspace's settings: it gets its prompt, and then nobody can tell it
 * anything. It is not among those that can be chosen. */
export const OWN_COMMAND: AgentFacts = {
  name: 'custom',
  displayName: 'A command of your own',
  isInstalled: true,
  version: null,
  problem: null,
  takesMessages: false,
  takesModel: false,
  models: [],
  permissionModes: [],
  canResume: false,
  canFork: false,
  limits: [],
};

/** Those that can be used come first, the scripted one last among them. */
export function sortAgents(agents: readonly AgentFacts[]): AgentFacts[] {
  const rank = (agent: AgentFacts) => (agent.isInstalled ? 0 : 2) + (agent.name === 'demo' ? 1 : 0);
  return agents
    .map((agent, index) => ({ agent, index }))
    .sort((a, b) => rank(a.agent) - rank(b.agent) || a.index - b.index)
    .map(({ agent }) => agent);
}

export const PERMISSION_WORDS: Record<PermissionChoice, { name: string; means: string }> = {
  ask: { name: 'Ask', means: 'The agent asks you before it does something.' },
  accept_edits: { name: 'Accept edits', means: 'Edits need no asking, everything else does.' },
  plan: { name: 'Plan', means: 'Nothing changes before you approve a plan.' },
  refuse: { name: 'Refuse', means: 'What would be asked is refused.' },
  bypass: { name: 'Allow everything', means: 'Nothing is asked. Only where nothing can be harmed.' },
};

/** The names that agents have for modes of their own. */
const VENDOR_MODES: Record<string, PermissionChoice> = {
  default: 'ask',
  acceptEdits: 'accept_edits',
  plan: 'plan',
  dontAsk: 'refuse',
  bypassPermissions: 'bypass',
};

/** A mode in our words, or in its own where nobody knows it. */
export function permissionName(name: string): string {
  const known = permissionOf(name);
  return known ? `“${PERMISSION_WORDS[known].name}”` : name;
}

/** Which mode a run is in, by what it is called there. */
export function permissionOf(name: string | null | undefined): PermissionChoice | null {
  if (!name) return null;
  const own = name.replaceAll('-', '_');
  if (own in PERMISSION_WORDS) return own as PermissionChoice;
  return VENDOR_MODES[name] ?? null;
}
