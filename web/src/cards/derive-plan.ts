import type { PlanEntry, PlanStatus } from '../wire';
import { listAt, textAt } from './read-input';

const STATUSES: Record<string, PlanStatus> = {
  pending: 'pending',
  in_progress: 'in_progress',
  completed: 'completed',
  cancelled: 'cancelled',
};

const MOST = 200;

/** The list of things to do in a call's arguments, whatever the vendor calls its parts. */
export function derivePlan(input: unknown): PlanEntry[] {
  const found = ['todos', 'plan', 'entries', 'items']
    .map((key) => listAt(input, key))
    .find((list) => list.length > 0);
  return (found ?? []).slice(0, MOST).flatMap((entry) => {
    const text =
      typeof entry === 'string' ? entry : textAt(entry, 'content', 'text', 'description', 'step', 'title');
    if (!text) return [];
    const status = textAt(entry, 'status') ?? '';
    return [{ text, status: (Object.hasOwn(STATUSES, status) && STATUSES[status]) || 'pending' }];
  });
}

export function planSummary(entries: readonly PlanEntry[]): string {
  const done = entries.filter((entry) => entry.status === 'completed').length;
  const now = entries.find((entry) => entry.status === 'in_progress');
  return `${done} of ${entries.length} done${now ? `, now: ${now.text}` : ''}`;
}
