/** What a search found in a file. */
export interface FoundFile {
  path: string;
  matches: { line: number; text: string; isMatch: boolean }[];
}

const MATCH = /^(.{1,500}?)([:-])(\d{1,9})\2(.*)$/;
const MOST_FILES = 500;

/** Groups `path:12:text` by file; null where the output is no such list. */
export function deriveMatches(output: string): FoundFile[] | null {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && line !== '--');
  if (lines.length === 0) return null;
  const files = new Map<string, FoundFile>();
  let read = 0;
  for (const line of lines) {
    const [, path, sign, number, text] = MATCH.exec(line) ?? [];
    if (path === undefined || number === undefined || text === undefined) continue;
    read += 1;
    let file = files.get(path);
    if (!file) {
      if (files.size >= MOST_FILES) continue;
      file = { path, matches: [] };
      files.set(path, file);
    }
    file.matches.push({ line: Number(number), text, isMatch: sign === ':' });
  }
  // A line that tells a count or a hint is usual; more means that it is something else.
  return read > 0 && lines.length - read <= 2 && lines.length - read < read ? [...files.values()] : null;
}

/** A result of a search of the web. */
export interface FoundPage {
  title: string;
  url: string;
}

/** Results of a search of the web, as vendors write them; the rest of the text as it is. */
export function derivePages(output: string): { pages: FoundPage[]; rest: string } {
  const listed = listOf(output);
  if (listed) {
    try {
      const pages = pagesOf(JSON.parse(output.slice(listed.from, listed.to)));
      const rest = output.slice(0, listed.start) + output.slice(listed.to).replace(/^\n/, '');
      if (pages.length > 0) return { pages, rest: rest.trim() };
    } catch {
      // Then it is text.
    }
  }
  const pages: FoundPage[] = [];
  const rest: string[] = [];
  for (const line of output.split('\n')) {
    const [, title, url] = /^(.{1,500}) (https?:\/\/\S{1,2000})$/.exec(line) ?? [];
    if (title && url) pages.push({ title, url });
    else rest.push(line);
  }
  return { pages, rest: rest.join('\n').trim() };
}

const LIST = 'Links: ';

/** Where the first list is. Looked for once, or an output full of beginnings would take forever. */
function listOf(output: string): { start: number; from: number; to: number } | null {
  const start = output.indexOf(`${LIST}[`);
  if (start < 0) return null;
  const from = start + LIST.length;
  const end = output.indexOf(']\n', from);
  if (end >= 0) return { start, from, to: end + 1 };
  return output.endsWith(']') ? { start, from, to: output.length } : null;
}

function pagesOf(list: unknown): FoundPage[] {
  if (!Array.isArray(list)) return [];
  return list.slice(0, 100).flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || !('url' in entry)) return [];
    const title = 'title' in entry && typeof entry.title === 'string' ? entry.title : String(entry.url);
    return typeof entry.url === 'string' ? [{ title, url: entry.url }] : [];
  });
}
