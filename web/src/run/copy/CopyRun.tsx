import { ClipboardCopy } from 'lucide-react';
import { useState } from 'react';
import { messageOf } from '../../api/error';
import { fetchNewestRecords } from '../../api/records';
import { fetchRun } from '../../api/runs';
import { deriveRows } from '../derive-rows';
import { flattenRows } from '../flatten-rows';
import type { Category } from '../row';
import { documentOf } from './derive-markdown';

/** Of a longer run the end is copied: no clipboard is made for more. */
const MOST_RECORDS = 20_000;

/** Copies the run as Markdown: not only what the page holds; but for what is hidden. */
export function CopyRun({ id, hidden }: { id: string; hidden: ReadonlySet<Category> }) {
  const [words, setWords] = useState<string | null>(null);
  const copy = async () => {
    setWords('Reading…');
    try {
      const [run, { records, isComplete }] = await Promise.all([
        fetchRun(id),
        fetchNewestRecords(id, MOST_RECORDS),
      ]);
      const from = isComplete ? null : (records[0]?.seq ?? null);
      const { top } = deriveRows(records).table;
      const shown = flattenRows(top, hidden, new Set(top.map((row) => row.key))).map((each) => each.row);
      await navigator.clipboard.writeText(documentOf(run.title || id, shown, from));
      setWords(isComplete ? 'Copied' : `Copied the newest ${records.length.toLocaleString('en')} records`);
    } catch (error) {
      setWords(`Not copied: ${messageOf(error)}`);
    }
    setTimeout(() => setWords(null), 4_000);
  };
  return (
    <>
      <span role="status" className="truncate text-muted text-xs">
        {words}
      </span>
      <button
        type="button"
        className="button"
        title="Copy the whole run as Markdown"
        onClick={() => void copy()}
      >
        <ClipboardCopy aria-hidden className="size-4" />
        <span className="max-sm:sr-only">Copy</span>
        <span className="sr-only"> the whole run as Markdown</span>
      </button>
    </>
  );
}
