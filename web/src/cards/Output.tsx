import { callKey, isSettled } from '../run/tool-call';
import { Attachments } from './Attachments';
import type { CardProps } from './card';
import { FullOutput } from './FullOutput';
import { OutputText } from './OutputText';
import { Nothing } from './parts';

interface OutputProps extends CardProps {
  /** How many lines of its beginning and its end are shown at first. */
  head?: number;
  tail?: number;
  label?: string;
}

/** What a tool gave: its beginning and its end, all of it when asked; and what came with it. */
export function Output({ call, run, head = 12, tail = 6, label = 'Output' }: OutputProps) {
  const { output } = call;
  return (
    <>
      {output ? (
        <OutputText name={callKey(call)} text={output} head={head} tail={tail} label={label} />
      ) : (
        isSettled(call) && call.attachments.length === 0 && <Nothing>No output.</Nothing>
      )}
      {call.outputBytes !== null && <FullOutput call={call} run={run} bytes={call.outputBytes} />}
      <Attachments call={call} run={run} />
    </>
  );
}
