import type { components } from '../api/schema';
import type { PermissionChoice, RunKind, RunStarted } from '../wire';
import { type AgentFacts, keepsLimit, OWN_COMMAND, permissionOf } from './derive-agent';

export type NewRun = components['schemas']['NewRun'];
export type Workspace = components['schemas']['Workspace'];

/** What stands in the dialog, as it was typed. */
export interface RunForm {
  workspace: string;
  backend: string;
  model: string;
  prompt: string;
  kind: RunKind;
  mode: string;
  iterations: string;
  cost: string;
  minutes: string;
  tokens: string;
  turns: string;
  verify: string;
  /** Empty: as the agent does by itself. */
  permission: PermissionChoice | '';
}

export type FieldName = keyof RunForm;
export type FieldProblems = Partial<Record<FieldName, string>>;

export const EMPTY_FORM: RunForm = {
  workspace: '',
  backend: '',
  model: '',
  prompt: '',
  kind: 'loop',
  mode: '',
  iterations: '',
  cost: '',
  minutes: '',
  tokens: '',
  turns: '',
  verify: '',
  permission: '',
};

/** Where the next run works most likely: where the address says, or where the last one was. */
export function firstWorkspace(known: readonly Workspace[], wanted: string | undefined): string {
  return wanted ?? known.find((each) => each.is_there)?.path ?? '';
}

/** The agent that is proposed: the last one in the workspace if it is there, otherwise the first one that is. None is
 * what the workspace says: so it is where the last one was a command of its own. */
export function proposedAgent(agents: readonly AgentFacts[], last: string | undefined): string {
  if (last === OWN_COMMAND.name) return '';
  const installed = agents.filter((agent) => agent.isInstalled);
  return (installed.find((agent) => agent.name === last) ?? installed[0])?.name ?? '';
}

/** What the last run in the workspace was asked to do is what the next one is asked, unless somebody says otherwise. */
export function proposedBy(last: RunStarted, agents: readonly AgentFacts[]): Partial<RunForm> {
  const backend = proposedAgent(agents, last.backend);
  const isSame = backend === last.backend;
  return {
    backend,
    kind: last.kind,
    mode: last.mode ?? '',
    verify: (last.verify ?? []).join('\n'),
    iterations: last.max_iterations > 0 ? String(last.max_iterations) : '',
    cost: last.max_cost ? String(last.max_cost / 1_000_000) : '',
    // Models and modes of one agent mean nothing to another.
    ...(isSame && { model: last.model ?? '', permission: proposedPermission(last) }),
  };
}

/** What happens without asking is proposed, but never everything: that is chosen each time. */
function proposedPermission(last: RunStarted): RunForm['permission'] {
  const mode = permissionOf(last.permission_mode);
  return mode === null || mode === 'bypass' ? '' : mode;
}

/** What is in the dialog: what somebody typed, and proposals where nobody did. */
export function formOf(proposed: Partial<RunForm>, typed: Partial<RunForm>): RunForm {
  return { ...EMPTY_FORM, ...proposed, ...typed };
}

/** What the dialog waits for before a run can be started: without it the run would go without the limits of the last. */
export function waitWords(at: { isLooking: boolean; isListing: boolean; isKnown: boolean }): string | null {
  if (at.isKnown) return null;
  if (at.isListing) return 'Looking up where agents have worked…';
  if (at.isLooking) return 'Looking for agents…';
  return 'Looking up what the last run there was asked…';
}

const MOST_PROMPT_BYTES = 900 * 1024;
const MOST_COMMANDS = 100;
const MOST_WHOLE = 4_294_967_295;

/** What is wrong with the form, by field. */
export function checkForm(form: RunForm, agents: readonly AgentFacts[]): FieldProblems {
  const problems: FieldProblems = {};
  const workspace = form.workspace.trim();
  if (workspace === '') problems.workspace = 'Say where the agent works.';
  else if (!workspace.startsWith('/'))
    problems.workspace = 'This must be an absolute path: it begins with /.';
  const agent = agents.find((each) => each.name === form.backend);
  if (form.backend !== '' && agents.length > 0 && !agent) problems.backend = 'Choose an agent.';
  if (agent && !agent.isInstalled) {
    problems.backend = agent.problem ?? `${agent.displayName} is not installed.`;
  }
  if (form.kind === 'loop' && form.prompt.trim() === '') problems.prompt = 'A loop needs something to do.';
  if (new TextEncoder().encode(form.prompt).length > MOST_PROMPT_BYTES) {
    problems.prompt = 'This is too long: at most 900 KiB. Put it in a file and name that.';
  }
  if (!isWhole(form.iterations, MOST_WHOLE)) problems.iterations = 'A whole number, at least 1.';
  if (!isWhole(form.turns, MOST_WHOLE)) problems.turns = 'A whole number, at least 1.';
  if (!isWhole(form.tokens, Number.MAX_SAFE_INTEGER)) problems.tokens = 'A whole number, at least 1.';
  if (form.cost.trim() !== '' && !(Number(form.cost) > 0)) problems.cost = 'A number of dollars above 0.';
  if (form.minutes.trim() !== '' && !(Number(form.minutes) > 0 && Number(form.minutes) < 1e9)) {
    problems.minutes = 'A number of minutes above 0.';
  }
  if (linesOf(form.verify).length > MOST_COMMANDS) problems.verify = 'At most 100 commands.';
  return problems;
}

function isWhole(text: string, most: number): boolean {
  if (text.trim() === '') return true;
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= most;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** What the server is asked. What was left empty is left to the workspace's settings. */
export function requestOf(form: RunForm, agent: AgentFacts | undefined): NewRun {
  const isLoop = form.kind === 'loop';
  const verify = linesOf(form.verify);
  const word = (text: string) => text.trim();
  const number = (text: string) => (text.trim() === '' ? null : Number(text));
  const minutes = number(form.minutes);
  const limit = (name: 'cost' | 'tokens' | 'turns') => (keepsLimit(agent, name) ? number(form[name]) : null);
  const cost = limit('cost');
  return {
    kind: form.kind,
    workspace: word(form.workspace),
    ...(form.backend && { backend: form.backend }),
    ...(word(form.model) && agent?.takesModel !== false && { model: word(form.model) }),
    ...(word(form.prompt) && { prompt: word(form.prompt) }),
    ...(word(form.mode) && { mode: word(form.mode) }),
    ...(form.permission &&
      agent?.permissionModes.includes(form.permission) && { permission_mode: form.permission }),
    ...(isLoop && verify.length > 0 && { verify }),
    limits: {
      iterations: isLoop ? number(form.iterations) : null,
      cost_micro_usd: cost === null ? null : Math.max(1, Math.round(cost * 1e6)),
      runtime_seconds: minutes === null ? null : Math.max(1, Math.round(minutes * 60)),
      tokens: limit('tokens'),
      turns: limit('turns'),
    },
  };
}

/** The run that a refusal speaks of, as one that has the workspace. */
export function runIn(message: string): string | null {
  return /\b\d{8}-\d{6}-[0-9a-f]{6}\b/.exec(message)?.[0] ?? null;
}

/** The field that a refusal of the server is about; null if that is not known. */
export function fieldOf(message: string): FieldName | null {
  if (/workspace|directory/i.test(message)) return 'workspace';
  if (/backend|not installed|not logged in/i.test(message)) return 'backend';
  if (/\bmodel\b/i.test(message)) return 'model';
  if (/prompt/i.test(message)) return 'prompt';
  if (/verify/i.test(message)) return 'verify';
  if (/cost/i.test(message)) return 'cost';
  if (/\btokens\b/i.test(message)) return 'tokens';
  if (/\bturns\b/i.test(message)) return 'turns';
  if (/\bmode\b/i.test(message)) return 'mode';
  return null;
}
