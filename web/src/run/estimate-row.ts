import { useCallback, useRef } from 'react';
import type { FlatRow } from './flatten-rows';
import type { Row } from './row';
import type { ToolCall } from './tool-call';

/** In pixels, as the rows are drawn. */
const PADDING = 8;
const LINE = 24;
const CARD = 32;
const CODE_LINE = 20;
/** Letters in a line of text, on a screen that is wide enough. */
const LETTERS = 105;

/** How many lines a text takes, looking no further than `most` of them. */
export function linesOf(text: string, letters: number, most: number): number {
  let lines = 0;
  for (let at = 0; at <= text.length && lines < most; ) {
    const end = text.indexOf('\n', at);
    const stop = end < 0 ? text.length : end;
    lines += Math.max(1, Math.ceil((stop - at) / letters));
    at = stop + 1;
  }
  return Math.min(lines, most);
}

function boxOf(lines: number): number {
  return lines === 0 ? 0 : lines * CODE_LINE + 18;
}

function callHeight({ kind, state, input, output, changes }: ToolCall): number {
  const isFailed = state === 'failed';
  switch (kind) {
    case 'execute': {
      const described = typeof input === 'object' && input !== null && 'description' in input ? LINE : 0;
      // Its first and last lines are shown, and a button between them.
      const shown = output ? Math.min(17, linesOf(output.trimEnd(), 110, 17)) : 0;
      return CARD + described + boxOf(1) + boxOf(shown) + 8;
    }
    case 'edit': {
      const diff = changes[0]?.diff;
      return CARD + 44 + (diff ? linesOf(diff, 1_000, 120) * CODE_LINE : 60);
    }
    default:
      return CARD + (isFailed ? 60 : 0);
  }
}

/**
 * How high a row will be. It is measured when it is there; the nearer this comes, the less a list moves under the
 * reader, and the less is laid out twice.
 */
export function estimateRow(row: Row): number {
  const { body } = row;
  switch (body.kind) {
    case 'text': {
      // A blank line is a small gap, not a line.
      const blanks = Math.min(40, body.text.split('\n\n', 41).length - 1);
      const lines = linesOf(body.text.trimEnd(), LETTERS, 80);
      return PADDING + Math.max(LINE, lines * LINE - blanks * 14);
    }
    case 'tool':
      return PADDING + callHeight(body.call) + (row.children.length > 0 ? LINE : 0);
    case 'user':
      return PADDING + 32 + linesOf(body.text, LETTERS, 7) * LINE;
    case 'iteration_start':
      return PADDING + 56 + linesOf(body.iteration.prompt, LETTERS, 7) * LINE;
    case 'turn_end':
    case 'run_end':
      return PADDING + 55;
    case 'ask':
      return PADDING + (body.hasCard ? LINE : 62);
    case 'plan':
      return PADDING + body.entries.length * 26;
    default:
      return PADDING + LINE;
  }
}

const MOST_KEPT = 20_000;

/** Estimates by place. Each row is estimated once: a page that is added makes all rows anew. */
export function useEstimates(flat: readonly FlatRow[]): (index: number) => number {
  const kept = useRef(new Map<string, number>()).current;
  return useCallback(
    (index: number) => {
      const row = flat[index]?.row;
      if (!row) return PADDING + LINE;
      const known = kept.get(row.key);
      if (known !== undefined) return known;
      if (kept.size > MOST_KEPT) kept.clear();
      const size = estimateRow(row);
      kept.set(row.key, size);
      return size;
    },
    [flat, kept],
  );
}
