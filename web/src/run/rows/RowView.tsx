import { memo } from 'react';
import { FoundHere } from '../../code/found-line';
import { SentHere, useKept } from '../kept-state';
import type { Row } from '../row';
import { AskBody } from './AskBody';
import { RawView } from './RawView';
import { RowActions } from './RowActions';
import { isStep, lookOf } from './row-look';
import { StepBody } from './StepBody';
import { isSameRow } from './same-row';
import { TextBody, ThinkingBody, UserBody } from './TextBody';
import { ToolBody } from './ToolBody';

interface Props {
  row: Row;
  /** Rows are changed in place: another number is another row. */
  version: number;
  depth: number;
  run: string;
  /** What somebody was sent to, if it is this row. */
  sent: object | null;
  /** What that person looked for. */
  found: string;
  isFolded: boolean;
  onFold: (key: string) => void;
}

/** One row: its picture, what it says, what can be done with it, and its raw words. */
export const RowView = memo(
  function RowView({ row, depth, run, sent, found, isFolded, onFold }: Props) {
    const [isRaw, setRaw] = useKept(`${row.key} raw`, false);
    const { icon: Icon, className } = lookOf(row.body);
    return (
      <article
        data-kind={row.body.kind}
        data-target={sent !== null || undefined}
        data-seq={row.linkSeq}
        // Whoever clicks or taps a row is at it: its actions are shown, and keys are meant for it.
        tabIndex={-1}
        className="row relative grid grid-cols-[1.25rem_minmax(0,1fr)] gap-x-2 px-3 py-1 focus-visible:-outline-offset-2"
        style={depth > 0 ? { marginLeft: `${depth * 1.25}rem` } : undefined}
      >
        <span className={`flex h-6 items-center ${className}`}>
          {/* A card has a picture of its own. */}
          {row.body.kind !== 'tool' && <Icon aria-hidden className="size-4" />}
        </span>
        <div className="min-w-0 break-words leading-6">
          <SentHere value={sent}>
            <FoundHere value={found}>
              <Body row={row} run={run} isFolded={isFolded} onFold={onFold} />
            </FoundHere>
          </SentHere>
          {isRaw && <RawView row={row} run={run} />}
        </div>
        <RowActions row={row} run={run} isRaw={isRaw} onRaw={() => setRaw(!isRaw)} />
      </article>
    );
  },
  (before, next) =>
    (before.row === next.row ? before.version === next.version : isSameRow(before.row, next.row)) &&
    before.depth === next.depth &&
    before.sent === next.sent &&
    before.found === next.found &&
    before.isFolded === next.isFolded,
);

function Body({ row, run, isFolded, onFold }: Pick<Props, 'row' | 'run' | 'isFolded' | 'onFold'>) {
  const { body } = row;
  if (isStep(body)) return <StepBody row={row} body={body} />;
  switch (body.kind) {
    case 'text':
      return <TextBody body={body} />;
    case 'thinking':
      return <ThinkingBody row={row} body={body} />;
    case 'user':
      return <UserBody row={row} text={body.text} origin={body.origin} />;
    case 'tool':
      return <ToolBody row={row} body={body} run={run} isFolded={isFolded} onFold={onFold} />;
    case 'ask':
      return <AskBody body={body} />;
    default:
      return null;
  }
}
