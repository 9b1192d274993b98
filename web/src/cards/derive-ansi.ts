import { MOST_LINE_CHARS } from '../code/derive-lines';
import type { Span } from '../code/derive-spans';

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

const ESCAPE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are looked for.
  /\u001b(?:\[([0-9;:<=>?]*)[ -/]*([@-~])|\][^\u0007\u001b]{0,4000}(?:\u0007|\u001b\\)?|[PX^_][^\u001b]{0,4000}(?:\u001b\\)?|[ -/]*[0-~]?)/g;

interface Look {
  colour: string;
  isBold: boolean;
  isFaint: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

const PLAIN: Look = { colour: '', isBold: false, isFaint: false, isItalic: false, isUnderlined: false };

function classOf(look: Look): string {
  return [
    look.colour && `ansi-${look.colour}`,
    look.isBold && 'font-bold',
    look.isFaint && 'ansi-faint',
    look.isItalic && 'italic',
    look.isUnderlined && 'underline',
  ]
    .filter(Boolean)
    .join(' ');
}

function apply(look: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).slice(0, 30).map(Number);
  let next = { ...look };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.isBold = true;
    else if (code === 2) next.isFaint = true;
    else if (code === 3) next.isItalic = true;
    else if (code === 4) next.isUnderlined = true;
    else if (code === 22) next = { ...next, isBold: false, isFaint: false };
    else if (code === 23) next.isItalic = false;
    else if (code === 24) next.isUnderlined = false;
    else if (code >= 30 && code <= 37) next.colour = COLOURS[code - 30] ?? '';
    else if (code >= 90 && code <= 97) next.colour = COLOURS[code - 90] ?? '';
    else if (code === 39) next.colour = '';
    else if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5;
      const index = codes[at + 2] ?? -1;
      // Of 256 colours the page has the first sixteen; others are text in the usual one.
      if (code === 38) next.colour = isIndexed && index >= 0 && index < 16 ? (COLOURS[index % 8] ?? '') : '';
      at += isIndexed ? 2 : codes[at + 1] === 2 ? 4 : 0;
    }
  }
  return classOf(next) === '' ? PLAIN : next;
}

/** What a terminal would show of a line that was written over with carriage returns. */
function overwritten(line: string): string {
  const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line;
  const at = trimmed.lastIndexOf('\r');
  return at < 0 ? trimmed : trimmed.slice(at + 1);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are taken away.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

export interface TerminalText {
  lines: string[];
  /** None for a line without colours, or one that is too long to have any. */
  spans: (Span[] | undefined)[];
}

/** The lines of a terminal's output, with its colours as classes. Every other sequence is taken away. */
export function deriveAnsi(text: string): TerminalText {
  const lines: string[] = [];
  const spans: TerminalText['spans'] = [];
  let look = PLAIN;
  const rows = text.split('\n');
  if (rows.length > 1 && rows.at(-1) === '') rows.pop();
  for (const row of rows) {
    const line = overwritten(row);
    if (look === PLAIN && line.search(CONTROLS) < 0) {
      // By far the most lines.
      lines.push(line);
      spans.push(undefined);
      continue;
    }
    const found: Span[] = [];
    const push = (piece: string) => {
      const clean = piece.replace(CONTROLS, '');
      if (clean !== '') found.push({ text: clean, className: classOf(look) });
    };
    if (!line.includes('\u001b')) push(line);
    else {
      let from = 0;
      for (const match of line.matchAll(ESCAPE)) {
        push(line.slice(from, match.index));
        from = match.index + match[0].length;
        if (match[2] === 'm') look = apply(look, match[1] ?? '');
      }
      push(line.slice(from));
    }
    const whole = found.map((span) => span.text).join('');
    const isPlain = found.every((span) => span.className === '');
    lines.push(whole);
    spans.push(isPlain || whole.length > MOST_LINE_CHARS ? undefined : found);
  }
  return { lines, spans };
}
