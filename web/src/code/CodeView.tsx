import { useMemo, useState } from 'react';
import './code.css';
import { CodeLines } from './CodeLines';
import { CopyButton } from './CopyButton';
import { languageOfName, languageOfPath } from './derive-language';
import { deriveLines } from './derive-lines';
import { useFoundLine } from './found-line';
import { useSpans } from './use-spans';

export interface CodeViewProps {
  text: string;
  /** As a fence names it. */
  language?: string | null;
  /** Tells the language where nobody names it. */
  path?: string | null;
  /** The number of the first line; null shows no numbers. */
  firstLine?: number | null;
  /** More lines are shown when asked for. */
  maxLines?: number;
  /** No colours, for text that still grows. */
  isPlain?: boolean;
  /** What it is, for those who do not see it. */
  label?: string;
  /** Without the button that copies it, where there is one already. */
  hasCopy?: boolean;
}

/** Text as code: numbered lines that scroll sideways, coloured as soon as the colours are there. */
export function CodeView({
  text,
  language,
  path,
  firstLine = 1,
  maxLines = 400,
  isPlain = false,
  label = 'Code',
  hasCopy = true,
}: CodeViewProps) {
  const [isWhole, setIsWhole] = useState(false);
  const lines = useMemo(() => deriveLines(text), [text]);
  const found = useFoundLine(lines);
  // A few lines more are no reason for a button.
  const isFolded = !isWhole && lines.length > maxLines * 1.2 && found < maxLines;
  const shown = useMemo(() => (isFolded ? lines.slice(0, maxLines) : lines), [lines, isFolded, maxLines]);
  const shownAs = isPlain ? null : (languageOfName(language) ?? languageOfPath(path));
  const spans = useSpans(shown, shownAs);
  return (
    <div className="group/code relative rounded border border-line bg-sunken">
      {hasCopy && (
        <div className="absolute top-0.5 right-0.5 z-10 rounded bg-sunken opacity-0 focus-within:opacity-100 group-hover/code:opacity-100 pointer-coarse:opacity-100">
          <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
        </div>
      )}
      <CodeLines lines={shown} spans={spans} firstLine={firstLine} label={label} found={found} />
      {isFolded && (
        <button type="button" className="more-button" onClick={() => setIsWhole(true)}>
          Show all {lines.length.toLocaleString('en')} lines
        </button>
      )}
    </div>
  );
}
