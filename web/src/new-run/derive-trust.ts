import { ApiError, type Problem } from '../api/error';
import { problemWords } from '../steer/derive-problem';

/** What a `ralph.yml` that is not trusted would do, as the server shows it. */
export interface Untrusted {
  settings: NonNullable<Problem['settings']>;
  files: string[];
  /** Names exactly this content; null if it cannot be trusted. */
  digest: string | null;
  /** What else the person must know: why it cannot be trusted, or that it has changed. */
  detail: string | null;
}

/** What a refused start shows to the person who decides; null if it was refused for another reason. `before` is what was
 * shown when the person decided. */
export function untrustedOf(failure: unknown, before: Untrusted | null = null): Untrusted | null {
  if (!(failure instanceof ApiError) || failure.code !== 'untrusted_workspace') return null;
  const { settings = [], files = [], digest = null } = failure.problem ?? {};
  const isNews = !digest || before !== null;
  return { settings, files, digest, detail: isNews ? problemWords(failure) : null };
}
