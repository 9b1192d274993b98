import { endWords } from '../../layout/activity-words';
import { formatCost, formatDuration } from '../../layout/format';
import type { Row, RowBody } from '../row';
import { iterationTitle, lineOf } from '../rows/derive-line';
import { outcomeWords, tokenWords } from '../rows/outcome-words';
import type { ToolCall } from '../tool-call';

/** A fence that nothing in the text can end. */
export function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${text.replace(/\n$/, '')}\n${ticks}`;
}

function code(text: string): string {
  const line = text.replaceAll('\n', ' ');
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

function quote(text: string): string {
  return text.replace(/^/gm, '> ');
}

function callMarkdown(call: ToolCall): string {
  const facts = [
    call.state,
    call.exitCode !== null && `exit ${call.exitCode}`,
    call.elapsedMs !== null && formatDuration(call.elapsedMs),
  ];
  const head = `**${call.name}**${call.subject ? ` ${code(call.subject)}` : ''} (${facts.filter(Boolean).join(', ')})`;
  const parts = [head];
  const diffs = call.changes.filter((change) => change.diff);
  for (const change of diffs) parts.push(`${code(change.path)}\n\n${fence(change.diff ?? '', 'diff')}`);
  if (diffs.length === 0 && call.input !== null && !call.subject) {
    parts.push(fence(JSON.stringify(call.input, null, 2), 'json'));
  }
  if (diffs.length === 0 && call.output) parts.push(fence(call.output));
  return parts.join('\n\n');
}

function bodyMarkdown(body: RowBody): string {
  switch (body.kind) {
    case 'text':
      return body.text;
    case 'thinking':
      return `*Thinking*\n\n${quote(body.text)}`;
    case 'user':
      return `**${body.origin === 'user' ? 'User' : 'Agent, on the user’s behalf'}**\n\n${quote(body.text)}`;
    case 'tool':
      return callMarkdown(body.call);
    case 'iteration_start':
      return `## ${iterationTitle(body.iteration)}\n\n${quote(body.iteration.prompt)}`;
    case 'plan':
      return body.entries
        .map((entry) => `- [${entry.status === 'completed' ? 'x' : ' '}] ${entry.text}`)
        .join('\n');
    case 'ask':
      return askMarkdown(body);
    case 'turn_end': {
      const facts = [
        body.usage && tokenWords(body.usage.tokens),
        body.usage && formatCost(body.usage.cost?.micro_usd),
      ];
      return `**Turn ${body.turn.number}: ${outcomeWords(body.turn.outcome)}** ${facts.filter(Boolean).join(', ')}`.trim();
    }
    case 'run_end': {
      const { reason, totals } = body.run;
      const facts = [tokenWords(totals.tokens), formatCost(totals.cost), formatDuration(totals.duration_ms)];
      return `**Run ended: ${endWords(reason).words}** (${facts.join(', ')})`;
    }
    default: {
      const { words, more, details } = lineOf(body);
      const line = `*${words}*${more ? ` (${more})` : ''}`;
      return details && body.kind !== 'record' ? `${line}\n\n${fence(details)}` : line;
    }
  }
}

function askMarkdown({ ask, state }: Extract<RowBody, { kind: 'ask' }>): string {
  if (ask.type === 'permission') {
    return `**May ${ask.data.tool} run?** ${ask.data.subject ? code(ask.data.subject) : ''} (${state})`;
  }
  if (ask.type === 'plan') return `**Plan** (${state})\n\n${ask.data.plan}`;
  const questions = ask.data.questions.map((question) => {
    const options = question.options?.map((option) => `- ${option.label}`) ?? [];
    return [`**${question.text}** (${state})`, ...options].join('\n');
  });
  return questions.join('\n\n');
}

/** A row as Markdown, with what stands beneath it. */
export function markdownOf(row: Row): string {
  const own = bodyMarkdown(row.body);
  if (row.children.length === 0) return own;
  return [own, ...row.children.map((child) => quote(markdownOf(child)))].join('\n\n');
}

/** Rows as one document. It says so if what was before a record is not in it. */
export function documentOf(title: string, rows: readonly Row[], from: number | null = null): string {
  const parts = [`# ${title.replaceAll('\n', ' ')}`];
  if (from !== null) {
    parts.push(
      `*This run is too long to be copied as a whole: what was before record ${from.toLocaleString('en')} is left out.*`,
    );
  }
  return `${[...parts, ...rows.map(markdownOf)].join('\n\n')}\n`;
}
