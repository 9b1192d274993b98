import { type CSSProperties, memo, type ReactNode } from 'react';
import type { MarkedSpan } from '../code/derive-spans';
import type { DiffLine, DiffRow } from './derive-diff';
import type { SplitRow } from './derive-split';

type Fold = Extract<DiffRow, { kind: 'fold' }>;

export type SpansOf = (line: DiffLine) => MarkedSpan[];

const SIGNS = { context: ' ', removed: '−', added: '+' } as const;
const WORDS = { context: '', removed: 'removed: ', added: 'added: ' } as const;

const Text = memo(
  function Text({ spans }: { spans: MarkedSpan[] }) {
    return spans.map(({ text, className, isMarked }, at) => {
      const Piece = isMarked ? 'mark' : 'span';
      if (!isMarked && className === '') return text;
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: a span is known by its place only.
        <Piece key={at} className={className}>
          {text}
        </Piece>
      );
    });
  },
  (before, after) =>
    before.spans.length === after.spans.length &&
    before.spans.every((span, at) => {
      const other = after.spans[at];
      return (
        span.text === other?.text && span.className === other.className && span.isMarked === other.isMarked
      );
    }),
);

function Side({ line, spansOf }: { line: DiffLine; spansOf: SpansOf }) {
  const colour = line.kind === 'context' ? '' : `diff-${line.kind}`;
  return (
    <>
      <span className={`diff-sign ${colour}`} aria-hidden>
        {SIGNS[line.kind]}
      </span>
      <span className={`diff-text ${colour}`}>
        {line.kind !== 'context' && <span className="sr-only">{WORDS[line.kind]}</span>}
        <Text spans={spansOf(line)} />
      </span>
    </>
  );
}

function LineNumber({
  value,
  colour,
  className = '',
}: {
  value: number | null;
  colour: string;
  className?: string;
}) {
  return (
    <span className={`diff-number ${colour} ${className}`} aria-hidden>
      {value ?? ''}
    </span>
  );
}

export function UnifiedRow({ line, spansOf }: { line: DiffLine; spansOf: SpansOf }) {
  const colour = line.kind === 'context' ? '' : `diff-${line.kind}`;
  return (
    <div className="diff-row">
      <LineNumber value={line.kind === 'added' ? null : line.old} colour={colour} />
      <LineNumber value={line.kind === 'removed' ? null : line.new} colour={colour} />
      <Side line={line} spansOf={spansOf} />
    </div>
  );
}

export function PairRow({ row, spansOf }: { row: Extract<SplitRow, { kind: 'pair' }>; spansOf: SpansOf }) {
  const { left, right } = row;
  const none = (
    <>
      <span className="diff-none" />
      <span className="diff-none" />
    </>
  );
  const colour = (line: DiffLine | null) =>
    line === null ? 'diff-none' : line.kind === 'context' ? '' : `diff-${line.kind}`;
  return (
    <div className="diff-row">
      <LineNumber value={left?.old ?? null} colour={colour(left)} />
      {left ? <Side line={left} spansOf={spansOf} /> : none}
      <LineNumber value={right?.new ?? null} colour={colour(right)} className="diff-right-number" />
      {right ? <Side line={right} spansOf={spansOf} /> : none}
    </div>
  );
}

/** What is the same and left out. It opens where the lines are known. */
export function FoldRow({ fold, open }: { fold: Fold; open: () => void }) {
  const count =
    fold.count === null
      ? 'Further down'
      : `${fold.count.toLocaleString('en')} ${fold.count === 1 ? 'line' : 'lines'} as before`;
  if (fold.lines.length === 0) return <div className="diff-fold">⋯ {count}</div>;
  return (
    <button type="button" className="diff-fold" onClick={open}>
      ⋯ Show {count}
    </button>
  );
}

/** The width of the numbers is given by the highest, so that columns stay in line. */
export function Rows({
  mode,
  highest,
  children,
}: {
  mode: 'split' | 'unified';
  highest: number;
  children: ReactNode;
}) {
  const width = highest === 0 ? '0.375rem' : `${String(highest).length + 1.5}ch`;
  return (
    <div
      className="diff-rows"
      {...(mode === 'split' && { 'data-split': '' })}
      style={{ '--diff-gutter': width } as CSSProperties}
    >
      {children}
    </div>
  );
}
