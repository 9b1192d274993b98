import { permissionName } from '../new-run/derive-agent';
import type { RunRecord, SessionUpdated } from '../wire';
import type { RowBody } from './row';

/** A record that is shown as it is. */
export function machinery(record: RunRecord, isKnown: boolean): RowBody {
  const { type, data } = (record.event ?? {}) as { type?: unknown; data?: unknown };
  return { kind: 'record', type: String(type), data, isKnown };
}

/** The row of a record that is one by itself, whatever was before it. */
export function bodyOfOne(record: RunRecord): RowBody {
  const { event } = record;
  switch (event.type) {
    case 'notice':
      return { kind: event.data.code === 'compacted' ? 'compaction' : 'notice', notice: event.data };
    case 'error':
      return { kind: 'error', error: event.data };
    case 'retry_scheduled':
      return { kind: 'retry', retry: event.data };
    case 'rate_limit':
      if (event.data.status === 'allowed') return machinery(record, true);
      return { kind: 'rate_limit', limit: event.data };
    case 'permission_denied':
      return { kind: 'denied', denial: event.data };
    case 'warned':
      return { kind: 'warning', warning: event.data };
    case 'cooldown_started':
      return { kind: 'pause', pause: event.data };
    case 'budget_awaited':
      return { kind: 'limit_reached', awaited: event.data };
    case 'limit_raised':
      return { kind: 'limit_raised', raised: event.data };
    case 'run_started':
      return { kind: 'run_start', run: event.data };
    case 'attempt_started':
      return { kind: 'attempt_start', attempt: event.data };
    case 'attempt_ended':
      return { kind: 'attempt_end', attempt: event.data };
    case 'iteration_ended':
      return { kind: 'iteration_end', iteration: event.data };
    case 'session_started':
      return { kind: 'session_start', session: event.data };
    case 'session_updated':
      return sessionChange(record, event.data);
    case 'session_forked':
      return { kind: 'session_fork', fork: event.data };
    case 'run_ended':
      return { kind: 'run_end', run: event.data };
    case 'turn_started':
    case 'status_changed':
    case 'command_answered':
    case 'message_awaited':
    case 'finished':
      return machinery(record, true);
    default:
      return machinery(record, false);
  }
}

function sessionChange(record: RunRecord, data: SessionUpdated): RowBody {
  const changes = [
    data.model && `The model is ${data.model} now`,
    data.permission_mode && `The permission mode is ${permissionName(data.permission_mode)} now`,
    data.title && `The conversation is called “${data.title}”`,
  ].filter((each): each is string => Boolean(each));
  if (changes.length === 0) return machinery(record, true);
  return { kind: 'session_change', text: changes.join(' · ') };
}
