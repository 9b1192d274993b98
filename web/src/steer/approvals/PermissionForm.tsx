import type { PermissionRequested } from '../../wire';
import type { FormProps } from './ApprovalCard';
import { DenyForm } from './DenyForm';
import { Digit } from './Digit';
import { allowance, answerOptions, permissionTitle } from './derive-answer';
import { visibleText } from './derive-visible';
import { GrantField } from './GrantField';
import { InputForm } from './InputForm';
import { PreviewView } from './PreviewView';
import { useTyped } from './typed';
import { useSeen } from './use-seen';

/** May this tool run? Once, with permissions that last, with other arguments, or not. */
export function PermissionForm(props: FormProps & { asked: PermissionRequested }) {
  const { ask, asked, answer, isBusy, canAnswer } = props;
  const [part, setPart] = useTyped<'choices' | 'change' | 'deny'>(ask, 'part', () => 'choices');
  const [chosen, setChosen] = useTyped<string[]>(ask, 'grants', () => []);
  const { isSeen, mark } = useSeen(ask);
  const options = answerOptions({ kind: 'permission', data: asked });
  const form = { ask, answer, isBusy, canAnswer };
  return (
    <>
      <p className="break-words font-medium">
        {permissionTitle(asked)}
        {asked.description && (
          <span className="ml-2 font-normal text-muted">{visibleText(asked.description)}</span>
        )}
      </p>
      {part !== 'change' && <PreviewView asked={asked} end={mark} />}
      {part === 'choices' && (
        <>
          <GrantField asked={asked} chosen={chosen} isBusy={isBusy} onChoose={setChosen} />
          <div className="mt-2 flex flex-wrap items-center gap-2">
            <button
              type="button"
              className="button"
              data-primary
              data-choice
              disabled={!canAnswer || !isSeen}
              onClick={() => answer(allowance(asked, chosen))}
            >
              <Digit>1</Digit>
              {chosen.length === 0 ? 'Allow once' : `Allow and grant ${chosen.length}`}
            </button>
            <button
              type="button"
              className="button"
              data-danger
              data-choice
              disabled={!canAnswer}
              onClick={() => setPart('deny')}
            >
              <Digit>2</Digit>
              Deny…
            </button>
            {options.canChange && (
              <button
                type="button"
                className="button"
                data-choice
                disabled={!canAnswer}
                onClick={() => setPart('change')}
              >
                <Digit>3</Digit>
                Edit input…
              </button>
            )}
            {!isSeen && <span className="text-muted text-xs">Scroll to its end to allow it.</span>}
          </div>
        </>
      )}
      {part === 'change' && <InputForm {...form} input={asked.input} onCancel={() => setPart('choices')} />}
      {part === 'deny' && (
        <DenyForm
          {...form}
          label="Reason for the agent (optional)"
          otherwise="The user does not allow this."
          onCancel={() => setPart('choices')}
        />
      )}
    </>
  );
}
