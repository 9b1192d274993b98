import { Check, Copy, X } from 'lucide-react';
import { useEffect, useState } from 'react';

type CopyState = 'idle' | 'copied' | 'refused';

interface Props {
  /** A function for what is dear to make. */
  text: string | (() => string);
  label?: string;
  /** With its name beside the picture. */
  hasWords?: boolean;
}

/** Copies a text. */
export function CopyButton({ text, label = 'Copy', hasWords = false }: Props) {
  const [state, setState] = useState<CopyState>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 1500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? text() : text);
      setState('copied');
    } catch {
      setState('refused');
    }
  };
  const said = state === 'copied' ? 'Copied' : state === 'refused' ? 'The browser does not allow it' : label;
  const Icon = state === 'copied' ? Check : state === 'refused' ? X : Copy;
  return (
    <button
      type="button"
      className={hasWords ? 'button' : 'icon-button'}
      aria-label={hasWords ? undefined : said}
      title={said}
      onClick={copy}
    >
      <Icon size={14} aria-hidden />
      {hasWords && said}
    </button>
  );
}
