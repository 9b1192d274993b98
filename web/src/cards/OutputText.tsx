import { useMemo } from 'react';
import { CodeLines } from '../code/CodeLines';
import { CopyButton } from '../code/CopyButton';
import '../code/code.css';
import { useFoundLine } from '../code/found-line';
import { useKept } from '../run/kept-state';
import { deriveAnsi } from './derive-ansi';

interface OutputTextProps {
  /** Unique in the run. */
  name: string;
  text: string;
  head: number;
  tail: number;
  label: string;
}

/** Lines of a terminal, with its colours; of many lines the beginning and the end. */
export function OutputText({ name, text, head, tail, label }: OutputTextProps) {
  const [isWhole, setWhole] = useKept(`${name} whole ${label}`, false);
  const { lines, spans } = useMemo(() => deriveAnsi(text), [text]);
  const hidden = lines.length - head - tail;
  const end = lines.length - tail;
  const found = useFoundLine(lines);
  // A few lines more are no reason for a button.
  const isFolded = !isWhole && hidden > 4 && !(found >= head && found < end);
  return (
    <div className="group/code relative rounded border border-line bg-sunken">
      <div className="absolute top-0.5 right-0.5 z-10 rounded bg-sunken opacity-0 focus-within:opacity-100 group-hover/code:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
      {!isFolded && <CodeLines lines={lines} spans={spans} firstLine={null} label={label} found={found} />}
      {isFolded && (
        <>
          {head > 0 && (
            <CodeLines
              lines={lines.slice(0, head)}
              spans={spans.slice(0, head)}
              firstLine={null}
              label={`Beginning of the ${label.toLowerCase()}`}
            />
          )}
          <button type="button" className="more-button" onClick={() => setWhole(true)}>
            Show {hidden.toLocaleString('en')} more lines
          </button>
          {tail > 0 && (
            <div className="border-line border-t">
              <CodeLines
                lines={lines.slice(end)}
                spans={spans.slice(end)}
                firstLine={null}
                label={`End of the ${label.toLowerCase()}`}
              />
            </div>
          )}
        </>
      )}
    </div>
  );
}
