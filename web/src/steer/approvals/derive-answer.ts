import { isDropped } from '../../run/derive-dropped';
import type {
  AnswerChoice,
  Approval,
  Grant,
  PermissionRequested,
  PlanProposed,
  Question,
  QuestionAsked,
} from '../../wire';
import { redactedIn } from '../derive-redacted';
import { isVisible, visibleText } from './derive-visible';

/** What is asked, by its kind; null while what was asked is not there. */
export type Asked =
  | { kind: 'permission'; data: PermissionRequested }
  | { kind: 'question'; data: QuestionAsked }
  | { kind: 'plan'; data: PlanProposed }
  | null;

/** What an approval asks. One that does not fit its kind, as from another version, can still be denied. */
export function askedOf(approval: Pick<Approval, 'kind' | 'data'>): Asked {
  const { kind } = approval;
  const data: unknown = approval.data;
  if (typeof data !== 'object' || data === null) return null;
  if (kind === 'question') {
    if (!('questions' in data) || !Array.isArray(data.questions) || data.questions.length === 0) return null;
    return { kind, data: data as QuestionAsked };
  }
  if (kind === 'plan') {
    return 'plan' in data && typeof data.plan === 'string' ? { kind, data: data as PlanProposed } : null;
  }
  if (kind === 'permission' && 'tool' in data) return { kind, data: data as PermissionRequested };
  return null;
}

/** What can be answered to a request. */
export interface AnswerOptions {
  canAllow: boolean;
  canChange: boolean;
  canAnswer: boolean;
  canDeny: boolean;
}

export function answerOptions(asked: Asked): AnswerOptions {
  const isPermission = asked?.kind === 'permission';
  return {
    canAllow: isPermission || asked?.kind === 'plan',
    // The tool would get what stands for them.
    canChange: isPermission && isObject(asked.data.input) && !isDropped(asked.data.input),
    canAnswer: asked?.kind === 'question',
    canDeny: true,
  };
}

/** A command of this length is shown as a whole in a list, on a phone as well. */
const MOST_SIMPLE = 120;

/**
 * Whether a permission can be answered in a list: only a command of one short line that is all there is to see. What
 * the agent calls it (`description`) changes nothing about it; any other argument might.
 */
export function isSimple(asked: Asked): asked is Extract<Asked, { kind: 'permission' }> {
  if (asked?.kind !== 'permission' || asked.data.kind !== 'execute') return false;
  const { input, subject } = asked.data;
  if (!isObject(input) || typeof input.command !== 'string' || input.command !== subject) return false;
  const others = Object.keys(input).filter((name) => name !== 'command' && name !== 'description');
  return (
    others.length === 0 &&
    subject.trim() !== '' &&
    subject.length <= MOST_SIMPLE &&
    !/[\r\n]/.test(subject) &&
    isVisible(subject)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The lasting permissions that a request offers. One that this page cannot read is not offered. */
export function grantsOf(asked: PermissionRequested): Grant[] {
  const list: unknown = asked.grants;
  if (!Array.isArray(list)) return [];
  return list.filter(
    (each: unknown): each is Grant =>
      isObject(each) && typeof each.id === 'string' && typeof each.text === 'string' && each.text !== '',
  );
}

/** Chooses a lasting permission, or no longer does. */
export function toggleGrant(asked: PermissionRequested, chosen: readonly string[], id: string): string[] {
  if (chosen.includes(id)) return chosen.filter((each) => each !== id);
  return asked.takes_one_grant ? [id] : [...chosen, id];
}

/** Allows a call, with exactly the chosen permissions of those that are offered. */
export function allowance(asked: PermissionRequested, chosen: readonly string[]): AnswerChoice {
  const grants = grantsOf(asked)
    .map(({ id }) => id)
    .filter((id) => chosen.includes(id));
  return grants.length > 0 ? { kind: 'allow', grants } : { kind: 'allow' };
}

/** What is to be decided about a call, in a line. */
export function permissionTitle({ tool, kind, subject }: PermissionRequested): string {
  const name = visibleText(tool);
  const what = subject ? visibleText(subject).replaceAll('\n', '⟨U+000A⟩') : '';
  // A command is shown as a whole below.
  if (what === '' || kind === 'execute') return `Allow ${name}?`;
  return kind === 'edit' ? `Allow ${name} to ${what}?` : `Allow ${name}: ${what}?`;
}

/** Changed arguments: an object, or what is wrong with the text. */
export function parseInput(text: string): { input: Record<string, unknown> } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const where = error instanceof Error ? error.message : '';
    return { problem: `This is not JSON: ${where}` };
  }
  if (!isObject(value)) return { problem: 'The input must be a JSON object: { … }' };
  const secret = redactedIn(JSON.stringify(value));
  if (secret) {
    const advice = 'Write the secret itself, or cancel and allow the input as it is.';
    return {
      problem: `${secret} stands for a secret that is not shown, and the tool would get it so. ${advice}`,
    };
  }
  return { input: value };
}

/** A refusal, with what the agent is told. */
export function denial(reason: string, endsTurn: boolean, otherwise: string): AnswerChoice {
  return { kind: endsTurn ? 'deny_and_interrupt' : 'deny', reason: reason.trim() || otherwise };
}

/** What a person has chosen so far for one question. */
export interface Choice {
  labels: string[];
  /** A text of one's own; null if it is not chosen. */
  other: string | null;
}

export const NO_CHOICE: Choice = { labels: [], other: null };

/** Chooses an option, or lets it go where several can be chosen. */
export function toggle(question: Question, pick: Choice, label: string): Choice {
  if (!question.is_multiple) return { labels: [label], other: null };
  const has = pick.labels.includes(label);
  const labels = has ? pick.labels.filter((each) => each !== label) : [...pick.labels, label];
  return { ...pick, labels };
}

/** The answer to one question; null if there is none yet. */
function answerText(question: Question, pick: Choice): string | null {
  // The order is that of the options, whatever was chosen first.
  const chosen = (question.options ?? [])
    .map(({ label }) => label)
    .filter((each) => pick.labels.includes(each));
  const other = pick.other?.trim();
  if (pick.other !== null && !other) return null;
  const all = other ? [...chosen, other] : chosen;
  return all.length === 0 ? null : all.join(', ');
}

/** The answer to all questions, or which of them have none. */
export function answersTo(
  questions: readonly Question[],
  picks: readonly Choice[],
): { answer: AnswerChoice } | { missing: number[] } {
  const texts = questions.map((question, index) => answerText(question, picks[index] ?? NO_CHOICE));
  const missing = texts.flatMap((text, index) => (text === null ? [index] : []));
  if (missing.length > 0) return { missing };
  return { answer: { kind: 'answers', answers: texts.map((text) => text ?? '') } };
}

/** What is asked, in a line. */
export function askedWords(asked: Asked): string {
  switch (asked?.kind) {
    case 'permission':
      return [asked.data.tool, asked.data.subject].filter(Boolean).join(': ');
    case 'question':
      return asked.data.questions[0]?.text ?? 'A question';
    case 'plan':
      return 'A plan';
    default:
      return 'A request';
  }
}
