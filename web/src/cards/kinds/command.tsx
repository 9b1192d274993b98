import { SquareTerminal } from 'lucide-react';
import { CodeView } from '../../code/CodeView';
import type { ToolCall } from '../../run/tool-call';
import { visibleText } from '../../steer/approvals/derive-visible';
import type { Card, CardProps } from '../card';
import { Output } from '../Output';
import { Facts, Nothing } from '../parts';
import { isTrueAt, numberAt, oneLine, textAt } from '../read-input';
import { Preparing } from './edit';

/** A script may be given as words. */
function commandOf(input: unknown): string | null {
  return textAt(input, 'command', 'cmd', 'script');
}

function CommandBody({ call, run }: CardProps) {
  const { input } = call;
  const command = commandOf(input);
  const description = textAt(input, 'description');
  return (
    <>
      {description && <Nothing>{description.slice(0, 1_000)}</Nothing>}
      {command === null ? (
        <Preparing call={call} />
      ) : (
        <CodeView
          text={visibleText(command)}
          language="bash"
          firstLine={null}
          maxLines={20}
          label="Command"
        />
      )}
      <Facts
        facts={[
          ['in', textAt(input, 'cwd', 'workdir', 'directory', 'dir_path')],
          ['task', textAt(input, 'task_id', 'bash_id', 'shell_id')],
          ['at most', milliseconds(numberAt(input, 'timeout'))],
          [
            'runs',
            isTrueAt(input, 'run_in_background') || call.state === 'background' ? 'in the background' : null,
          ],
        ]}
      />
      <Output call={{ ...call, output: withoutExitCode(call) }} run={run} head={6} tail={10} />
    </>
  );
}

/** The heading tells the code already; some agents write it before the output as well. */
export function withoutExitCode({ output, exitCode }: Pick<ToolCall, 'output' | 'exitCode'>): string | null {
  if (output === null || exitCode === null) return output;
  const line = `Exit code ${exitCode}`;
  if (output === line) return '';
  return output.startsWith(`${line}\n`) ? output.slice(line.length + 1) : output;
}

function milliseconds(value: number | null): string | null {
  return value === null ? null : `${(value / 1_000).toLocaleString('en')} s`;
}

export const command: Card = {
  icon: SquareTerminal,
  subject: (call) => {
    const text = commandOf(call.input);
    return text === null ? call.subject : oneLine(text);
  },
  note: (call) =>
    call.exitCode === null ? null : (
      <span className={`chip ${call.exitCode === 0 ? '' : 'text-bad'}`}>exit code {call.exitCode}</span>
    ),
  isOpen: () => true,
  isSubjectInBody: (call) => commandOf(call.input) !== null,
  Body: CommandBody,
};
