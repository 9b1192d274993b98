import { Suspense } from 'react';
import { lazyPart } from '../../layout/lazy-part';
import { RowBoundary } from '../../run/rows/RowBoundary';
import type { PermissionRequested } from '../../wire';
import { type Fact, type Preview, previewOf } from './derive-preview';
import { visibleText } from './derive-visible';

const DiffView = lazyPart(async () => (await import('../../diff/DiffView')).DiffView);

interface Props {
  asked: PermissionRequested;
  /** Goes behind the last of it, to be told that it was on the screen. */
  end: (element: Element | null) => void;
}

/** What would be done, with all of its arguments. */
export function PreviewView({ asked, end }: Props) {
  const previewed = previewOf(asked);
  if (!previewed) {
    return (
      <>
        {asked.subject && <code className="break-words font-mono text-xs">{visibleText(asked.subject)}</code>}
        <End mark={end} />
      </>
    );
  }
  return (
    <>
      <Main preview={previewed.preview} end={end} />
      {previewed.facts.length > 0 && <Facts facts={previewed.facts} />}
    </>
  );
}

function End({ mark }: { mark: Props['end'] }) {
  return <div ref={mark} aria-hidden className="h-px" data-end />;
}

function Main({ preview, end }: { preview: Preview; end: Props['end'] }) {
  if (preview.as === 'diff') {
    // Nobody decides without having seen it, also while the diff cannot be loaded.
    const plain = <PlainChange path={preview.path} old={preview.old} now={preview.new} />;
    return (
      <div className="mt-1 max-h-64 overflow-auto">
        <RowBoundary fallback={plain} resetKey={preview} note="The diff cannot be shown.">
          <Suspense fallback={plain}>
            <DiffView path={preview.path} old={preview.old} new={preview.new} />
          </Suspense>
        </RowBoundary>
        <End mark={end} />
      </div>
    );
  }
  if (preview.as === 'too_long') {
    return (
      <>
        {preview.subject && <code className="break-words font-mono text-xs">{preview.subject}</code>}
        <p className="text-warn text-xs">The arguments are too long to be shown.</p>
        <End mark={end} />
      </>
    );
  }
  const { text, lines, end: ending } = preview.shown;
  return (
    <>
      {lines > 1 && (
        <p className="mt-1 break-words text-muted text-xs">
          {lines} lines
          {ending !== null && (
            <>
              , the last is <code className="font-mono text-fg">{ending}</code>
            </>
          )}
        </p>
      )}
      <div className="mt-1 max-h-48 overflow-auto rounded border border-line bg-sunken px-2 py-1 font-mono text-xs">
        <figure
          tabIndex={0}
          aria-label={preview.as === 'command' ? 'Command' : 'Input'}
          className="whitespace-pre-wrap break-words"
        >
          {text}
        </figure>
        <End mark={end} />
      </div>
    </>
  );
}

function PlainChange({ path, old, now }: { path: string; old: string; now: string }) {
  const text = [old, now].map(visibleText);
  return (
    <>
      <p className="text-muted">{path}</p>
      <pre className="whitespace-pre-wrap break-words font-mono text-xs">
        {text[0] !== '' && <del className="block text-bad no-underline">{text[0]}</del>}
        {text[1] !== '' && <ins className="block text-ok no-underline">{text[1]}</ins>}
      </pre>
    </>
  );
}

function Facts({ facts }: { facts: Fact[] }) {
  return (
    <section tabIndex={0} aria-label="Other arguments" className="mt-1 max-h-32 overflow-auto text-xs">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3">
        {facts.map(({ name, value }) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="whitespace-pre-wrap break-words font-mono">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
