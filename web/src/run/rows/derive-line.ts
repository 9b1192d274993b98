import { formatCost, formatDuration, formatTime } from '../../layout/format';
import type { CooldownCause, IterationStarted, LimitKind } from '../../wire';
import { commandWords } from './command-words';
import { outcomeWords } from './outcome-words';
import type { StepRowBody } from './row-look';

/** A line, and what stands beneath it when it is unfolded. */
export interface LineProps {
  words: string;
  more?: string | null | undefined;
  /** Beneath the line, unfolded. */
  details?: string | null | undefined;
  tone?: 'bad' | 'warn' | 'muted' | undefined;
}

export function iterationTitle({ number, role }: IterationStarted): string {
  return role ? `Iteration ${number}: ${role}` : `Iteration ${number}`;
}

const json = (value: unknown) =>
  value === undefined || value === null ? null : JSON.stringify(value, null, 2);

const PAUSES: Record<CooldownCause, string> = {
  pause: 'Paused before the next iteration',
  backoff: 'The agent failed; trying again after a pause',
  usage_limit: 'Usage limit reached; waiting for it to reset',
};

/** The name of each limit that a person can raise, and how. */
const LIMITS: Partial<Record<LimitKind, { name: string; option: string; show: (to: number) => string }>> = {
  cost: { name: 'Cost limit', option: '--cost 5', show: (to) => formatCost(to, false) },
  tokens: { name: 'Token limit', option: '--tokens 100k', show: (to) => `${to} tokens` },
  iterations: { name: 'Iteration limit', option: '--iterations 10', show: (to) => `${to} iterations` },
  runtime: { name: 'Time limit', option: '--time 1h', show: (to) => formatDuration(to * 1_000) },
};

/** What a row says in a line. */
export function lineOf(
  body: Exclude<StepRowBody, { kind: 'turn_end' | 'run_end' | 'iteration_start' | 'plan' }>,
): LineProps {
  switch (body.kind) {
    case 'verify': {
      const { result } = body;
      if (!result && body.isCut) return { words: `Check did not end: ${body.command}`, tone: 'warn' };
      if (!result) return { words: `Check runs: ${body.command}` };
      const took = formatDuration(result.duration_ms);
      if (result.timed_out_after_ms) {
        const more = `timed out after ${formatDuration(result.timed_out_after_ms)}`;
        return { words: `Check failed: ${body.command}`, more, details: result.output, tone: 'bad' };
      }
      // By the end of the run, which says nothing about the work.
      if (result.exit.was_stopped && !result.is_ok) {
        return { words: `Check stopped: ${body.command}`, more: took, details: result.output, tone: 'warn' };
      }
      const exit = result.exit.code ?? result.exit.signal;
      const more = `${took}${result.is_ok ? '' : ` · exit ${exit ?? 'unknown'}`}`;
      const words = `${result.is_ok ? 'Check passed' : 'Check failed'}: ${body.command}`;
      return { words, more, details: result.output, tone: result.is_ok ? undefined : 'bad' };
    }
    case 'error':
      return {
        words: body.error.message || body.error.code,
        more: [body.error.class, body.error.http_status && `status ${body.error.http_status}`]
          .filter(Boolean)
          .join(' · '),
        tone: 'bad',
      };
    case 'retry': {
      const { attempt, max_attempts, delay_ms, error } = body.retry;
      const count = attempt ? ` (${attempt}${max_attempts ? ` of ${max_attempts}` : ''})` : '';
      const wait = delay_ms ? ` in ${formatDuration(delay_ms)}` : '';
      return {
        words: `The model did not answer; it is asked again${wait}${count}`,
        more: error.message,
        tone: 'warn',
      };
    }
    case 'compaction':
      return {
        words: 'The conversation was shortened',
        more: body.notice.message,
        details: json(body.notice.data),
        tone: 'muted',
      };
    case 'notice': {
      const { severity, code, message, data } = body.notice;
      const tone = severity === 'error' ? 'bad' : severity === 'warning' ? 'warn' : 'muted';
      return { words: message || code, more: message ? code : null, details: json(data), tone };
    }
    case 'rate_limit': {
      const { status, window, used_percent, resets_at } = body.limit;
      const words =
        status === 'rejected' ? 'The subscription’s limit is reached' : 'The subscription’s limit is near';
      const until = resets_at ? `until ${formatTime(new Date(resets_at * 1000).toISOString())}` : null;
      const used =
        used_percent === undefined || used_percent === null ? null : `${Math.round(used_percent)} % used`;
      return { words, more: [window, used, until].filter(Boolean).join(' · '), tone: 'warn' };
    }
    case 'denied':
      return { words: `${body.denial.tool} was not allowed`, more: body.denial.reason, tone: 'warn' };
    case 'task':
      return {
        words: body.task.title ?? `Task ${body.task.task_id}`,
        more: body.task.state,
        details: body.task.summary,
      };
    case 'run_start':
      return {
        words: `Run started with ${body.run.display_name}`,
        more: [body.run.model, body.run.workspace].filter(Boolean).join(' · '),
        details: json(body.run),
        tone: 'muted',
      };
    case 'attempt_start':
      return {
        words: 'Process started',
        more: `${body.attempt.program} · pid ${body.attempt.pid}`,
        tone: 'muted',
      };
    case 'attempt_end': {
      const { outcome, error, will_retry, totals } = body.attempt;
      const more = [
        formatDuration(totals.duration_ms),
        error?.message,
        will_retry && 'it is tried once more',
      ];
      const isBad = Boolean(error);
      return {
        words: `Process ended: ${outcomeWords(outcome)}`,
        more: more.filter(Boolean).join(' · '),
        tone: isBad ? 'bad' : 'muted',
      };
    }
    case 'session_start': {
      const { model, agent_version, tools } = body.session;
      const more = [model, agent_version, tools && `${tools.length} tools`].filter(Boolean).join(' · ');
      return { words: 'The agent is there', more, details: json(body.session), tone: 'muted' };
    }
    case 'session_change':
      return { words: body.text, tone: 'muted' };
    case 'session_fork':
      return { words: 'The agent goes on under another session', more: body.fork.actual, tone: 'muted' };
    case 'iteration_end': {
      const { number, outcome, totals, failure } = body.iteration;
      const more = [formatCost(totals.cost, totals.is_estimate), formatDuration(totals.duration_ms)].join(
        ' · ',
      );
      const words = `Iteration ${number} ended: ${outcome.replaceAll('_', ' ')}`;
      return { words, more, details: failure, tone: failure ? 'bad' : 'muted' };
    }
    case 'warning':
      return { words: body.warning.message, more: body.warning.kind.replaceAll('_', ' '), tone: 'warn' };
    case 'pause': {
      const { cause, until } = body.pause;
      return {
        words: PAUSES[cause] ?? 'Paused',
        more: `until ${formatTime(until)}`,
        tone: cause === 'pause' ? 'muted' : 'warn',
      };
    }
    case 'limit_reached': {
      const { limit, message, until } = body.awaited;
      const option = LIMITS[limit]?.option ?? '--cost 5';
      const more = [`continue with: ralph top-up RUN ${option}`, until && `until ${formatTime(until)}`];
      return { words: message, more: more.filter(Boolean).join(' · '), tone: 'warn' };
    }
    case 'limit_raised': {
      const { limit, to } = body.raised;
      const known = LIMITS[limit];
      return { words: known ? `${known.name} raised to ${known.show(to)}` : `A limit was raised to ${to}` };
    }
    case 'command': {
      const { by, refused } = body.command;
      const more = [by, refused && `refused: ${refused}`].filter(Boolean).join(' · ');
      return { words: commandWords(body.command), more, tone: refused ? 'warn' : 'muted' };
    }
    case 'record':
      return { words: body.type.replaceAll('_', ' '), details: json(body.data), tone: 'muted' };
  }
}
