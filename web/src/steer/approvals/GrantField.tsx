import { TriangleAlert } from 'lucide-react';
import type { PermissionRequested } from '../../wire';
import { grantsOf, toggleGrant } from './derive-answer';
import { visibleText } from './derive-visible';

interface Props {
  asked: PermissionRequested;
  chosen: readonly string[];
  isBusy: boolean;
  onChoose: (chosen: string[]) => void;
}

/** The lasting permissions that can be given with an answer: one line each, none chosen at first. */
export function GrantField({ asked, chosen, isBusy, onChoose }: Props) {
  const grants = grantsOf(asked);
  if (grants.length === 0) return null;
  return (
    <fieldset disabled={isBusy} className="mt-2 text-xs">
      <legend className="text-muted">
        {asked.takes_one_grant ? 'Also allow from now on (one of these)' : 'Also allow from now on'}
      </legend>
      {grants.map(({ id, kind, text }) => (
        <label key={id} className="flex items-start gap-2 rounded px-1 py-1 hover:bg-hover">
          <input
            type="checkbox"
            className="mt-0.5"
            checked={chosen.includes(id)}
            onChange={() => onChoose(toggleGrant(asked, chosen, id))}
          />
          <span className="min-w-0 break-words">
            {kind === 'mode' && (
              <span className="mr-1.5 inline-flex items-center gap-1 font-medium text-warn">
                <TriangleAlert aria-hidden className="size-3.5" />
                Mode
              </span>
            )}
            {visibleText(text).replaceAll('\n', '⟨U+000A⟩')}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
