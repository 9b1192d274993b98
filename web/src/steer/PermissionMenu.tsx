import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { PERMISSION_WORDS, permissionOf } from '../new-run/derive-agent';
import type { PermissionChoice } from '../wire';
import { ConfirmDialog } from './ConfirmDialog';
import { Menu } from './Menu';
import type { MenuProps } from './ModelMenu';
import { useChosen } from './use-chosen';
import { useCommand } from './use-command';

/** Changes what may happen without asking. */
export function PermissionMenu({ run, agent, refusal }: MenuProps) {
  const { pending, problem, say } = useCommand(run.id);
  const now = permissionOf(run.permission_mode);
  const [chosen, setChosen] = useChosen({ now, refusal });
  const [asks, setAsks] = useState(false);
  const choose = async (mode: PermissionChoice) => {
    const receipt = await say({ command: 'set_permission_mode', mode });
    if (receipt) setChosen(mode);
    return receipt !== null;
  };
  const words = now ? PERMISSION_WORDS[now].name : (run.permission_mode ?? 'Unknown');
  const next = chosen ? ` → ${PERMISSION_WORDS[chosen].name}` : '';
  return (
    <>
      <Menu
        label="What happens without asking"
        value={pending ? 'Changing…' : `${words}${next}`}
        icon={<ShieldCheck aria-hidden className="size-4 shrink-0" />}
      >
        {(close) => (
          <ul className="grid gap-0.5" aria-label="Permission modes">
            {agent.permissionModes.map((mode) => (
              <li key={mode}>
                <button
                  type="button"
                  className="w-full rounded px-2 py-1 text-left hover:bg-hover"
                  aria-current={mode === now || undefined}
                  disabled={pending !== null}
                  onClick={async () => {
                    if (mode === 'bypass' && now !== 'bypass') {
                      close();
                      setAsks(true);
                    } else if (await choose(mode)) close();
                  }}
                >
                  <span className={mode === now ? 'font-semibold' : 'font-medium'}>
                    {PERMISSION_WORDS[mode].name}
                    {mode === 'bypass' && now !== 'bypass' && '…'}
                    {mode === now && ' (now)'}
                    {mode === chosen && ' (told, not confirmed yet)'}
                  </span>
                  <span className="block text-muted text-xs">{PERMISSION_WORDS[mode].means}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Menu>
      {problem && (
        <span role="alert" className="text-bad text-xs">
          {problem}
        </span>
      )}
      {asks && (
        <ConfirmDialog
          title="Allow everything?"
          action="Allow everything"
          onClose={() => setAsks(false)}
          onConfirm={() => void choose('bypass')}
        >
          The agent asks nothing any more: it runs every command and changes every file that you could. Choose
          this only where nothing can be harmed.
        </ConfirmDialog>
      )}
    </>
  );
}
