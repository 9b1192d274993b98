import { useQuery } from '@tanstack/react-query';
import { messageOf } from '../../api/error';
import { fetchRaw } from '../../api/raw';
import { fetchRecord } from '../../api/records';
import type { Row } from '../row';
import type { RawRef } from '../tool-call';
import { RawPages } from './lazy-parts';

/** The most that is put on the page at once, in characters or bytes. */
const MOST_SHOWN = 200_000;

/** What the agent wrote for a row, byte for byte; the record itself where there is nothing of the agent's. */
export function RawView({ row, run }: { row: Row; run: string }) {
  if (row.raw.length === 0) return <Recorded run={run} seq={row.linkSeq} />;
  return (
    <>
      {row.raw.map((ref) => {
        const key = `${ref.iteration}/${ref.attempt}/${ref.offset}`;
        return ref.length > MOST_SHOWN ? (
          <RawPages key={key} run={run} raw={ref} why="This is long: it is shown in parts." isOpen />
        ) : (
          <Raw key={key} run={run} raw={ref} seq={row.linkSeq} />
        );
      })}
    </>
  );
}

function Raw({ run, raw, seq }: { run: string; raw: RawRef; seq: number }) {
  const { data, error, isPending } = useQuery({
    queryKey: ['raw', run, raw],
    queryFn: ({ signal }) => fetchRaw(run, raw, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (error) return <Recorded run={run} seq={seq} why={messageOf(error)} />;
  return <Words label={`Raw output, record ${seq}`} text={isPending ? 'Loading…' : pretty(data)} />;
}

function Recorded({ run, seq, why }: { run: string; seq: number; why?: string }) {
  const { data, error, isPending } = useQuery({
    queryKey: ['record', run, seq],
    queryFn: () => fetchRecord(run, seq),
    retry: false,
  });
  const text = isPending ? 'Loading…' : error ? messageOf(error) : JSON.stringify(data, null, 2);
  const note = why
    ? `The raw output cannot be had: ${why} This is the record.`
    : 'This is ralph’s own record: the agent wrote nothing for it.';
  return <Words label={`Record ${seq}`} text={text} note={note} />;
}

function Words({ label, text, note }: { label: string; text: string; note?: string }) {
  const shown = text.length > MOST_SHOWN ? text.slice(0, MOST_SHOWN) : text;
  return (
    <div className="my-1 rounded border border-line bg-sunken">
      {note && <p className="border-line border-b px-2 text-muted text-xs">{note}</p>}
      <section
        aria-label={label}
        tabIndex={0}
        className="max-h-96 overflow-auto whitespace-pre-wrap break-all p-2 font-mono text-xs leading-5"
      >
        {shown}
      </section>
      {shown !== text && (
        <p className="border-line border-t px-2 text-muted text-xs">
          The first {MOST_SHOWN.toLocaleString()} of {text.length.toLocaleString()} characters.
        </p>
      )}
    </div>
  );
}

/** JSON with line breaks, and everything else as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
