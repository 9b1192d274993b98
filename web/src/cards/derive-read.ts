/** A piece of a file as a tool gave it. */
export interface ReadOutput {
  /** Null where the output has no numbers. */
  firstLine: number | null;
  text: string;
  /** What the tool said after the file. */
  after: string;
}

const NUMBERED = /^ *(\d{1,9})(?:→|\t)(.*)$/;

/** Takes the numbers away that a tool put before the lines of a file. */
export function deriveRead(output: string): ReadOutput {
  const lines = output.split('\n');
  let firstLine: number | null = null;
  const text: string[] = [];
  for (const line of lines) {
    const [, number, rest] = NUMBERED.exec(line.endsWith('\r') ? line.slice(0, -1) : line) ?? [];
    if (number === undefined || rest === undefined) break;
    const at = Number(number);
    // Numbers that do not count on are part of the file.
    if (firstLine !== null && at !== firstLine + text.length) break;
    firstLine ??= at;
    text.push(rest);
  }
  if (firstLine === null) return { firstLine: null, text: output, after: '' };
  return { firstLine, text: text.join('\n'), after: lines.slice(text.length).join('\n').trim() };
}
