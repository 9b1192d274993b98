import { FileSymlink, FileText, FolderSearch, Trash2 } from 'lucide-react';
import { useMemo } from 'react';
import { CodeView } from '../../code/CodeView';
import type { Card, CardProps } from '../card';
import { deriveMatches, type FoundFile } from '../derive-found';
import { deriveRead } from '../derive-read';
import { Output } from '../Output';
import { Facts, Nothing } from '../parts';
import { isTrueAt, numberAt, pathAt, textAt } from '../read-input';
import { Preparing } from './edit';

function ReadBody({ call, run }: CardProps) {
  const read = useMemo(() => deriveRead(call.output ?? ''), [call.output]);
  const isCode = call.state === 'completed' && call.output && call.attachments.length === 0;
  if (!isCode) {
    return (
      <>
        <Preparing call={call} />
        <Output call={call} run={run} />
      </>
    );
  }
  return (
    <>
      <CodeView
        text={read.text}
        path={pathAt(call.input) ?? call.subject}
        firstLine={read.firstLine}
        maxLines={40}
        label="File"
      />
      {read.after !== '' && <Nothing>{read.after.slice(0, 2_000)}</Nothing>}
      {call.outputBytes !== null && <Output call={{ ...call, output: null }} run={run} />}
    </>
  );
}

export const read: Card = {
  icon: FileText,
  note: (call) => {
    const offset = numberAt(call.input, 'offset');
    const limit = numberAt(call.input, 'limit');
    if (offset === null && limit === null) return null;
    const from = offset ?? 1;
    return (
      <span className="text-2xs text-faint">
        {limit === null ? `from line ${from}` : `lines ${from}–${from + limit - 1}`}
      </span>
    );
  },
  Body: ReadBody,
};

function SearchBody({ call, run }: CardProps) {
  const { input, output } = call;
  const files = useMemo(() => (output ? deriveMatches(output) : null), [output]);
  return (
    <>
      <Facts
        facts={[
          ['for', textAt(input, 'pattern', 'query', 'glob')],
          ['in', pathAt(input)],
          ['files', textAt(input, 'pattern') === null ? null : textAt(input, 'glob', 'include', 'type')],
          ['shows', textAt(input, 'output_mode')],
          ['case', isTrueAt(input, '-i') ? 'ignored' : null],
        ]}
      />
      <Preparing call={call} />
      {files && call.outputBytes === null ? (
        <Matches files={files} />
      ) : (
        <Output call={call} run={run} label="Found" />
      )}
    </>
  );
}

const MOST_SHOWN = 200;

function Matches({ files }: { files: FoundFile[] }) {
  let left = MOST_SHOWN;
  const all = files.reduce((sum, file) => sum + file.matches.length, 0);
  const shown = files.flatMap((file) => {
    const matches = file.matches.slice(0, left);
    left -= matches.length;
    return matches.length > 0 ? [{ ...file, matches }] : [];
  });
  return (
    <div className="max-h-[70vh] overflow-y-auto rounded border border-line bg-sunken px-2 py-1 text-xs">
      {shown.map(({ path, matches }) => (
        <div key={path} className="not-first:mt-1">
          <div className="truncate font-medium font-mono text-2xs" title={path}>
            <bdi>{path}</bdi>
          </div>
          {matches.map(({ line, text, isMatch }) => (
            <div
              key={`${line} ${isMatch}`}
              className={`flex gap-2 font-mono text-2xs ${isMatch ? '' : 'text-faint'}`}
            >
              <span className="w-10 shrink-0 text-right text-faint">{line}</span>
              <span className="wrap-anywhere min-w-0 whitespace-pre-wrap">{text.slice(0, 500)}</span>
            </div>
          ))}
        </div>
      ))}
      {all > MOST_SHOWN && <Nothing>And {(all - MOST_SHOWN).toLocaleString('en')} more lines.</Nothing>}
    </div>
  );
}

export const search: Card = {
  icon: FolderSearch,
  note: (call) => {
    if (call.state !== 'completed' || !call.output || call.outputBytes !== null) return null;
    const count = call.output.split('\n').filter((line) => line.trim() !== '').length;
    return (
      <span className="text-2xs text-faint">
        {count === 1 ? '1 line' : `${count.toLocaleString('en')} lines`}
      </span>
    );
  },
  isSubjectInBody: (call) => textAt(call.input, 'pattern', 'query', 'glob') !== null,
  Body: SearchBody,
};

function FileBody({ call, run }: CardProps) {
  const to = textAt(call.input, 'destination', 'new_path', 'to', 'target');
  return (
    <>
      <Facts
        facts={[
          ['file', pathAt(call.input) ?? textAt(call.input, 'source', 'from', 'old_path')],
          ['to', to],
        ]}
      />
      {call.changes.map(({ path, kind }) => (
        <Facts key={path} facts={[[kind, path]]} />
      ))}
      <Preparing call={call} />
      <Output call={call} run={run} />
    </>
  );
}

export const remove: Card = { icon: Trash2, Body: FileBody, isOpen: () => true };
export const move: Card = { icon: FileSymlink, Body: FileBody, isOpen: () => true };
