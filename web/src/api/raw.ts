import type { RawRef } from '../run/tool-call';
import { noteLogin } from './client';
import { errorOf, unreachable } from './error';
import { fetchAllRecords } from './records';
import { authorization } from './session-key';

/** Attempts are counted anew in each iteration, files of output over the whole run. */
interface KnownAttempt {
  iteration: number;
  attempt: number;
  file: number;
}

const known = new Map<string, KnownAttempt[]>();

/** The number of the file that an attempt wrote to. */
export function fileOfAttempt(rawLog: string): number | null {
  const number = /(\d+)\.[a-z]+$/.exec(rawLog)?.[1];
  return number === undefined ? null : Number(number);
}

async function fileOf(run: string, ref: RawRef): Promise<number> {
  const find = () =>
    known.get(run)?.find((each) => each.iteration === ref.iteration && each.attempt === ref.attempt)?.file;
  const found = find();
  if (found !== undefined) return found;
  const { records } = await fetchAllRecords(run, 'attempt_started', 10_000);
  const attempts = records.flatMap(({ iteration, attempt, event }) => {
    if (event.type !== 'attempt_started') return [];
    const file = fileOfAttempt(event.data.raw_log);
    return file === null ? [] : [{ iteration, attempt, file }];
  });
  if (known.size > 50) known.clear();
  known.set(run, attempts);
  return find() ?? ref.attempt;
}

/** How much of the raw output is fetched at once at most. */
export const MOST_RAW_BYTES = 16 * 1024 * 1024;

/** The agent's own words, byte for byte as it wrote them. */
export async function fetchRaw(run: string, ref: RawRef, signal?: AbortSignal): Promise<string> {
  const file = await fileOf(run, ref);
  const length = Math.min(ref.length, MOST_RAW_BYTES);
  const address = `/api/v1/runs/${encodeURIComponent(run)}/raw/${file}`;
  const headers = {
    ...authorization(),
    range: `bytes=${ref.offset}-${ref.offset + Math.max(1, length) - 1}`,
  };
  let response: Response;
  try {
    response = await fetch(address, { headers, ...(signal && { signal }) });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  }
  if (response.status !== 206) {
    const body: unknown = await response.json().catch(() => null);
    throw noteLogin(errorOf(response.status, body));
  }
  return response.text();
}
