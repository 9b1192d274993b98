import type {
  AttemptEnded,
  AttemptStarted,
  BudgetAwaited,
  CloseReason,
  CommandReceived,
  CooldownStarted,
  Denial,
  ErrorInfo,
  IterationEnded,
  IterationStarted,
  LimitRaised,
  MessageState,
  Notice,
  PermissionRequested,
  PlanEntry,
  PlanProposed,
  QuestionAsked,
  RateLimit,
  Retry,
  RunEnded,
  RunStarted,
  SessionForked,
  SessionStarted,
  Task,
  TurnFinished,
  Usage,
  VerifyFinished,
  Warned,
} from '../wire';
import type { RawRef, ToolCall } from './tool-call';

/** What waits for an answer, and what became of it. */
export type Ask =
  | { type: 'permission'; data: PermissionRequested }
  | { type: 'question'; data: QuestionAsked }
  | { type: 'plan'; data: PlanProposed };

/** Who answered; without a name where the client did not tell. */
export interface Answerer {
  name: string | null;
  /** The answers to questions, or the reason of a denial. */
  text?: string;
  /** The arguments, as JSON, that replaced those the agent asked for. */
  changedInput?: string;
}

export type SentState = 'queued' | 'sent' | MessageState | 'refused' | 'withdrawn';

export interface AskRowBody {
  kind: 'ask';
  ask: Ask;
  request: string;
  state: 'pending' | CloseReason;
  answerer: Answerer | null;
  /** When it was answered, denied or withdrawn. */
  closedAt: string | null;
  /** The lasting permissions that were given with the answer, a line each. */
  granted: string[];
  /** Whether a card above tells already what is asked. */
  hasCard: boolean;
}

/** What a row shows. */
export type RowBody =
  | { kind: 'text'; text: string; isStreaming: boolean; isAborted: boolean }
  | { kind: 'thinking'; text: string; isStreaming: boolean; isRedacted: boolean }
  | { kind: 'user'; text: string; origin: 'user' | 'agent' }
  | { kind: 'tool'; call: ToolCall; task: Task | null }
  | { kind: 'plan'; entries: PlanEntry[] }
  | AskRowBody
  | { kind: 'task'; task: Task }
  /** `isCut`: whoever ran it died meanwhile. */
  | { kind: 'verify'; command: string; result: VerifyFinished | null; isCut?: boolean }
  | { kind: 'retry'; retry: Retry }
  | { kind: 'compaction'; notice: Notice }
  | { kind: 'notice'; notice: Notice }
  | { kind: 'rate_limit'; limit: RateLimit }
  | { kind: 'error'; error: ErrorInfo }
  | { kind: 'denied'; denial: Denial }
  | { kind: 'run_start'; run: RunStarted }
  | { kind: 'iteration_start'; iteration: IterationStarted }
  | { kind: 'iteration_end'; iteration: IterationEnded }
  | { kind: 'attempt_start'; attempt: AttemptStarted }
  | { kind: 'attempt_end'; attempt: AttemptEnded }
  | { kind: 'session_start'; session: SessionStarted }
  | { kind: 'session_change'; text: string }
  | { kind: 'session_fork'; fork: SessionForked }
  | { kind: 'turn_end'; turn: TurnFinished; usage: Usage | null }
  | { kind: 'run_end'; run: RunEnded }
  | { kind: 'warning'; warning: Warned }
  | { kind: 'pause'; pause: CooldownStarted }
  | { kind: 'limit_reached'; awaited: BudgetAwaited }
  | { kind: 'limit_raised'; raised: LimitRaised }
  | { kind: 'command'; command: CommandReceived; state: SentState | null }
  /** What has nothing to show but itself: records of the machinery, and those of a newer version. */
  | { kind: 'record'; type: string; data: unknown; isKnown: boolean };

export type RowKind = RowBody['kind'];

/** One row of the activity. It is changed in place; `version` says that it was. */
export interface Row {
  key: string;
  /** The record it began with. */
  seq: number;
  /** The record that a link to it names. */
  linkSeq: number;
  at: string;
  iteration: number;
  attempt: number;
  /** The call of the subagent that it belongs to. */
  parent: string | null;
  raw: RawRef[];
  version: number;
  body: RowBody;
  /** What a subagent did, under the call that started it. */
  children: Row[];
}

/** What can be hidden, as one. */
export const CATEGORIES = {
  text: 'Text',
  thinking: 'Thinking',
  user: 'Messages',
  tools: 'Tools',
  asks: 'Questions',
  verify: 'Checks',
  notices: 'Notices',
  errors: 'Errors',
  steps: 'Steps of the run',
  process: 'Processes and sessions',
  records: 'Everything else',
} as const;

export type Category = keyof typeof CATEGORIES;

type Plain = Exclude<RowKind, 'notice' | 'record' | 'command' | 'attempt_end'>;

const CATEGORY_OF: Record<Plain, Category> = {
  text: 'text',
  thinking: 'thinking',
  user: 'user',
  tool: 'tools',
  plan: 'tools',
  task: 'tools',
  denied: 'tools',
  ask: 'asks',
  verify: 'verify',
  retry: 'notices',
  compaction: 'notices',
  rate_limit: 'notices',
  warning: 'notices',
  pause: 'steps',
  limit_reached: 'steps',
  limit_raised: 'steps',
  session_change: 'notices',
  session_fork: 'notices',
  error: 'errors',
  run_start: 'process',
  iteration_start: 'steps',
  iteration_end: 'steps',
  attempt_start: 'process',
  session_start: 'process',
  turn_end: 'steps',
  run_end: 'steps',
};

function isAboutMessage({ command, refused }: CommandReceived): boolean {
  return !refused && (command === 'edit_message' || command === 'withdraw_message');
}

export function categoryOf(body: RowBody): Category {
  if (body.kind === 'notice') return body.notice.severity === 'debug' ? 'records' : 'notices';
  if (body.kind === 'record') return body.isKnown ? 'records' : 'notices';
  if (body.kind === 'attempt_end') return body.attempt.error ? 'steps' : 'process';
  // A message that was changed or taken back says so itself.
  if (body.kind === 'command') return isAboutMessage(body.command) ? 'records' : 'user';
  return CATEGORY_OF[body.kind];
}
