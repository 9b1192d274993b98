import type { RunRecord } from '../wire';
import type { RowBody } from './row';
import type { RowTable } from './row-table';

/** Whatever a process that is gone had begun gets no end of its own any more. */
export function cutOff(table: RowTable, record: RunRecord): void {
  const { iteration, attempt } = record;
  const isAll = record.event.type === 'run_ended';
  for (const row of [...table.open]) {
    if (!isAll && (row.iteration !== iteration || row.attempt !== attempt)) continue;
    row.body = cutOffBody(row.body, record);
    row.version += 1;
    table.open.delete(row);
  }
}

function cutOffBody(body: RowBody, { seq, at }: RunRecord): RowBody {
  if (body.kind === 'text') return { ...body, isStreaming: false, isAborted: true };
  if (body.kind === 'thinking') return { ...body, isStreaming: false };
  if (body.kind === 'ask') return { ...body, state: 'ended' };
  if (body.kind === 'verify') return { ...body, isCut: true };
  if (body.kind !== 'tool') return body;
  return { ...body, call: { ...body.call, state: 'cancelled', finishedSeq: seq, endedAt: at } };
}
