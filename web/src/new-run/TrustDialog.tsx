import type { components } from '../api/schema';
import { visibleText } from '../steer/approvals/derive-visible';
import { useArmed } from '../steer/arming';
import { Modal } from '../steer/Modal';
import type { Untrusted } from './derive-trust';

export type TrustChoice = components['schemas']['TrustChoice'];

interface Props {
  workspace: string;
  untrusted: Untrusted;
  isBusy: boolean;
  onChoose: (choice: TrustChoice) => void;
  onClose: () => void;
}

/** Shows everything that a `ralph.yml` would do before a person decides whether to trust it. The digest that was shown is
 * what is sent, so a file that changes meanwhile is shown again instead of trusted. */
export function TrustDialog({ workspace, untrusted, isBusy, onChoose, onClose }: Props) {
  const { settings, files, digest, detail } = untrusted;
  const isArmed = useArmed(digest ?? '');
  const canChoose = isArmed && !isBusy;
  return (
    <Modal title="Trust this workspace?" size="large" onClose={onClose}>
      <div className="grid gap-3">
        <p>
          <code className="break-all font-mono">{visibleText(workspace)}/ralph.yml</code> is not trusted. If
          you trust it, it will:
        </p>
        <ul className="grid gap-1 text-xs">
          {settings.map(({ key, value, effect }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a list has several lines with one key, and none comes or goes.
            <li key={at} className="rounded border border-line bg-sunken px-2 py-1">
              <span className="text-muted">{effect}: </span>
              <span className="break-all font-medium font-mono">{visibleText(key)}</span>
              <code className="block whitespace-pre-wrap break-all font-mono">{visibleText(value)}</code>
            </li>
          ))}
        </ul>
        {files.length > 0 && (
          <p className="text-xs">
            It uses these files, and trusts what is in them now:{' '}
            <code className="break-all font-mono">{files.map(visibleText).join(', ')}</code>
          </p>
        )}
        {digest ? (
          <p className="text-muted text-xs">
            You are asked again when one of these files changes. Other files that these programs read are not
            checked. Digest: <code className="break-all font-mono">{digest}</code>
          </p>
        ) : null}
        {detail && (
          <p role="alert" className="text-bad">
            {detail}
          </p>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="button"
            disabled={!canChoose}
            onClick={() => onChoose({ kind: 'leave_out' })}
          >
            Start without these settings
          </button>
          {digest && (
            <button
              type="button"
              className="button"
              data-danger
              disabled={!canChoose}
              onClick={() => onChoose({ kind: 'trust', digest })}
            >
              Trust and start
            </button>
          )}
        </div>
      </div>
    </Modal>
  );
}
