import type { PermissionRequested } from '../../wire';
import type { FormProps } from './ApprovalCard';
import { DenyForm } from './DenyForm';
import { answerOptions, ruleWords } from './derive-answer';
import { visibleText } from './derive-visible';
import { InputForm } from './InputForm';
import { PreviewView } from './PreviewView';
import { useTyped } from './typed';

/** May this tool run? Once, always, with other arguments, or not. */
export function PermissionForm({ ask, asked, answer, isBusy }: FormProps & { asked: PermissionRequested }) {
  const [part, setPart] = useTyped<'choices' | 'change' | 'deny'>(ask, 'part', () => 'choices');
  const options = answerOptions({ kind: 'permission', data: asked });
  const rules = ruleWords(asked.suggestions);
  return (
    <>
      <p className="break-words">
        May <strong>{visibleText(asked.tool)}</strong> run?
        {asked.description && <span className="ml-2 text-muted">{visibleText(asked.description)}</span>}
      </p>
      {part !== 'change' && <PreviewView asked={asked} />}
      {part === 'choices' && (
        <div className="mt-2 flex flex-wrap items-center gap-2">
          <button
            type="button"
            className="button"
            data-primary
            disabled={isBusy}
            onClick={() => answer({ kind: 'allow' })}
          >
            Allow once
          </button>
          {options.canAllowAlways && (
            <button
              type="button"
              className="button"
              disabled={isBusy}
              title={rules.join('\n')}
              onClick={() => answer({ kind: 'allow_always' })}
            >
              Always allow
            </button>
          )}
          {options.canChange && (
            <button type="button" className="button" disabled={isBusy} onClick={() => setPart('change')}>
              Edit input…
            </button>
          )}
          <button
            type="button"
            className="button"
            data-danger
            disabled={isBusy}
            onClick={() => setPart('deny')}
          >
            Deny…
          </button>
          {options.canAllowAlways && (
            <span className="min-w-0 break-words text-muted text-xs">Always: {rules.join('; ')}</span>
          )}
        </div>
      )}
      {part === 'change' && (
        <InputForm
          ask={ask}
          input={asked.input}
          answer={answer}
          isBusy={isBusy}
          onCancel={() => setPart('choices')}
        />
      )}
      {part === 'deny' && (
        <DenyForm
          ask={ask}
          answer={answer}
          isBusy={isBusy}
          label="Why not? The agent is told."
          otherwise="The user does not allow this."
          onCancel={() => setPart('choices')}
        />
      )}
    </>
  );
}
