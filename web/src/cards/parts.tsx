import type { ReactNode } from 'react';

/** A word for what follows. */
export function Labelled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <div className="text-2xs text-faint">{label}</div>
      {children}
    </div>
  );
}

/** A text of a model or a tool, as it is. */
export function Words({ text, most = 4_000 }: { text: string; most?: number }) {
  return (
    <p className="wrap-anywhere whitespace-pre-wrap">
      {text.length > most
        ? `${text.slice(0, most)}… (${(text.length - most).toLocaleString('en')} more characters)`
        : text}
    </p>
  );
}

/** Said where there is nothing to show. */
export function Nothing({ children }: { children: ReactNode }) {
  return <p className="text-muted text-xs">{children}</p>;
}

/** Settings of a call that differ from the usual ones. */
export function Facts({ facts }: { facts: [string, string | number | null | undefined][] }) {
  const told = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (told.length === 0) return null;
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs">
      {told.map(([name, value]) => (
        <div key={name} className="flex min-w-0 gap-1">
          <dt className="text-faint">{name}</dt>
          <dd className="wrap-anywhere min-w-0 font-mono text-2xs leading-5">
            {String(value).slice(0, 1_000)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
