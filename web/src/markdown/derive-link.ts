/** The address of a link that may be followed, or null: only the web and mail, never this page's own origin by a path. */
export function deriveLink(href: unknown): string | null {
  if (typeof href !== 'string' || href.length > 4_000) return null;
  const trimmed = href.trim();
  if (!/^(https?:\/\/|mailto:)/i.test(trimmed)) return null;
  try {
    const { protocol } = new URL(trimmed);
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? trimmed : null;
  } catch {
    return null;
  }
}
