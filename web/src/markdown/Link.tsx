import type { ReactNode } from 'react';
import { deriveLink } from './derive-link';

/** A link that may be followed, in a window of its own; anything else is its text. */
export function Link({ href, children }: { href: unknown; children?: ReactNode }) {
  const address = deriveLink(href);
  if (address === null) {
    return <span title={typeof href === 'string' ? href.slice(0, 500) : undefined}>{children}</span>;
  }
  return (
    <a href={address} title={address} rel="noopener noreferrer" target="_blank">
      {children}
    </a>
  );
}
