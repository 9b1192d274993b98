import {
  Bot,
  Brain,
  CircleAlert,
  CircleCheck,
  CircleX,
  Flag,
  FlagTriangleRight,
  Gauge,
  Hand,
  Hourglass,
  Info,
  ListTodo,
  type LucideIcon,
  MessageSquare,
  Minimize2,
  Play,
  Plug,
  RotateCw,
  ScrollText,
  ShieldX,
  TriangleAlert,
  User,
  Wrench,
} from 'lucide-react';
import type { RowBody, RowKind } from '../row';

const ICONS: Record<RowKind, LucideIcon> = {
  text: MessageSquare,
  thinking: Brain,
  user: User,
  command: User,
  tool: Wrench,
  plan: ListTodo,
  ask: Hand,
  task: Bot,
  verify: CircleCheck,
  retry: RotateCw,
  compaction: Minimize2,
  notice: Info,
  rate_limit: Gauge,
  error: CircleX,
  denied: ShieldX,
  run_start: Play,
  run_end: Flag,
  iteration_start: FlagTriangleRight,
  iteration_end: FlagTriangleRight,
  attempt_start: Plug,
  attempt_end: Plug,
  session_start: Plug,
  session_change: Info,
  session_fork: Info,
  turn_end: CircleCheck,
  warning: TriangleAlert,
  pause: Hourglass,
  limit_reached: Gauge,
  limit_raised: Gauge,
  record: ScrollText,
};

/** Bodies with a component of their own; all others are a line with details. */
export type StepKind = Exclude<RowKind, 'text' | 'thinking' | 'user' | 'tool' | 'ask'>;
export type StepRowBody = Extract<RowBody, { kind: StepKind }>;

export function isStep(body: RowBody): body is StepRowBody {
  return !['text', 'thinking', 'user', 'tool', 'ask'].includes(body.kind);
}

function toneOf(body: RowBody): string {
  switch (body.kind) {
    case 'error':
      return 'text-bad';
    case 'denied':
    case 'warning':
    case 'limit_reached':
    case 'rate_limit':
    case 'retry':
      return 'text-warn';
    case 'pause':
      return body.pause.cause === 'pause' ? 'text-faint' : 'text-warn';
    case 'notice':
      return body.notice.severity === 'error'
        ? 'text-bad'
        : body.notice.severity === 'warning'
          ? 'text-warn'
          : 'text-faint';
    case 'verify':
      if (body.isCut) return 'text-warn';
      return body.result === null ? 'text-accent' : body.result.is_ok ? 'text-ok' : 'text-bad';
    case 'ask':
      return body.state === 'pending' ? 'text-warn' : 'text-faint';
    case 'thinking':
      return 'text-think';
    case 'text':
    case 'user':
      return 'text-accent';
    case 'turn_end':
      return body.turn.outcome === 'succeeded' ? 'text-ok' : 'text-bad';
    case 'run_end':
      return body.run.exit_code === 0 ? 'text-ok' : 'text-bad';
    case 'tool':
      if (body.call.state === 'failed') return 'text-bad';
      return body.call.state === 'denied' || body.call.state === 'waiting' ? 'text-warn' : 'text-muted';
    default:
      return 'text-faint';
  }
}

/** The picture of a row, and its colour. */
export function lookOf(body: RowBody): { icon: LucideIcon; className: string } {
  const failed = body.kind === 'verify' && body.result && !body.result.is_ok;
  const turned = body.kind === 'turn_end' && body.turn.outcome !== 'succeeded';
  const icon = failed ? CircleX : turned ? CircleAlert : ICONS[body.kind];
  return { icon: icon ?? ScrollText, className: toneOf(body) };
}
