const REASONS: Record<string, string> = {
  used: 'That login link does not work any more: each works once, for ten minutes.',
  wait: 'Too many wrong secrets were tried. Wait a few seconds, then use the token or a new link.',
};

/** Why a login link led here, if one did: the server says it in the address. */
export function loginReason(search: string): string | null {
  const said = new URLSearchParams(search).get('login');
  if (said === null) return null;
  return (Object.hasOwn(REASONS, said) && REASONS[said]) || 'That login link does not work.';
}

/** The port that the server has unless somebody says otherwise. */
const USUAL_PORT = '7878';

/** What gives a new link in a terminal. */
export function openCommand(port: string): string {
  return port === '' || port === USUAL_PORT ? 'ralph serve --open' : `ralph serve --open --port ${port}`;
}
