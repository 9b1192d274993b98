import { visibleText } from './derive-visible';

/** At most this many empty lines in a row are shown. */
const MOST_EMPTY_LINES = 1;
/** At most this many spaces in a row are shown: more than code is indented by. */
const MOST_SPACES = 40;
/** A text with more lines than this says how it ends beside its number of lines. */
const MOST_LINES = 8;
const MOST_OF_END = 200;

/** A text that somebody decides about: all of it, with nothing hidden, and nothing pushed away by empty space. */
export interface Shown {
  text: string;
  /** How many lines it really has. */
  lines: number;
  /** Its last line, where it is far from the first. */
  end: string | null;
}

/** As `run_view` shows it in a terminal; the same cases test both. */
export function shownText(text: string): Shown {
  const trimmed = text.replace(/[\s]+$/, '');
  const all = trimmed.split('\n');
  const folded = foldBlanks(all).map(visibleText);
  const last = folded.at(-1) ?? '';
  return {
    text: folded.join('\n'),
    lines: all.length,
    end: all.length > MOST_LINES ? cutStart(last) : null,
  };
}

function foldBlanks(lines: readonly string[]): string[] {
  const folded: string[] = [];
  let empty: string[] = [];
  const flush = () => {
    if (empty.length <= MOST_EMPTY_LINES) folded.push(...empty.map(foldSpaces));
    else folded.push(`… ${empty.length} empty lines`);
    empty = [];
  };
  for (const line of lines) {
    if (/^[ \t\r]*$/.test(line)) {
      empty.push(line);
      continue;
    }
    flush();
    folded.push(foldSpaces(line));
  }
  flush();
  return folded;
}

function foldSpaces(line: string): string {
  return line.replace(/[ \t]+/g, (blanks) =>
    blanks.length > MOST_SPACES ? ` … [${blanks.length} spaces] … ` : blanks,
  );
}

function cutStart(line: string): string {
  return line.length > MOST_OF_END ? `…${line.slice(-MOST_OF_END)}` : line;
}
