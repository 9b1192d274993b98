/**
 * Who gave a command, as a name to show; null for the person at the page. Journals name the login session or token of
 * each command. Browsers and the server token are the owner's: all of them are “You”.
 */
export function actorName(by: string | null | undefined): string | null {
  if (!by || by === 'server token' || by.startsWith('session ')) return null;
  return by;
}
