/** Above any of these, text is shown without colours. */
export const MOST_COLOURED_LINES = 5_000;
export const MOST_COLOURED_CHARS = 500_000;
export const MOST_COLOURED_LINE = 2_000;

/** A line longer than this is cut for display: a browser needs seconds for a line of a megabyte. */
export const MOST_LINE_CHARS = 20_000;

/** The lines of a text. A line break at the end begins no further line. */
export function deriveLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r(?!\n)/);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

export function canColour(lines: readonly string[]): boolean {
  if (lines.length > MOST_COLOURED_LINES) return false;
  let chars = 0;
  for (const line of lines) {
    if (line.length > MOST_COLOURED_LINE) return false;
    chars += line.length + 1;
    if (chars > MOST_COLOURED_CHARS) return false;
  }
  return true;
}

/** What is shown of a line. */
export function shownLine(line: string): string {
  if (line.length <= MOST_LINE_CHARS) return line;
  const rest = line.length - MOST_LINE_CHARS;
  return `${line.slice(0, MOST_LINE_CHARS)} … ${rest.toLocaleString('en')} more characters in this line`;
}

/** A browser cannot scroll further than this many lines. */
export const MOST_LINES = 1_000_000;

/** Which lines of a scrolled list to render: `first` up to, but without, `end`. */
export function deriveVisible(
  top: number,
  height: number,
  lineHeight: number,
  count: number,
): { first: number; end: number } {
  const spare = 20;
  const visible = Math.ceil((Number.isFinite(height) && height > 0 ? height : 600) / lineHeight);
  const at = Math.floor(Math.max(0, Number.isFinite(top) ? top : 0) / lineHeight);
  const first = Math.max(0, Math.min(at, Math.max(0, count - visible)) - spare);
  return { first, end: Math.min(count, first + visible + 2 * spare) };
}

/** The width of the longest line, in characters, for a list that renders only a part of them. */
export function longestLine(lines: readonly string[]): number {
  let longest = 0;
  for (const line of lines) {
    // A tab is at most as wide as this.
    const tabs = line.includes('\t') ? (line.split('\t').length - 1) * 3 : 0;
    longest = Math.max(longest, Math.min(line.length, MOST_LINE_CHARS + 60) + tabs);
  }
  return longest;
}
