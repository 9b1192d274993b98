import { useCallback, useRef, useState } from 'react';
import { stream } from '../stream/browser';
import type { ControlCommand, Receipt } from '../wire';
import { problemWords } from './derive-problem';

/** What became of a command. */
export interface CommandState {
  /** Which command has no receipt yet. */
  pending: ControlCommand['command'] | null;
  problem: string | null;
  /** What the run says to it. */
  note: string | null;
}

const NOTHING: CommandState = { pending: null, problem: null, note: null };

/** Tells a run something and knows how that went. */
export function useCommand(run: string) {
  const [state, setState] = useState(NOTHING);
  const latest = useRef(0);
  const say = useCallback(
    async (command: ControlCommand): Promise<Receipt | null> => {
      latest.current += 1;
      const mine = latest.current;
      const set = (next: CommandState) => {
        // A later command has the word.
        if (mine === latest.current) setState(next);
      };
      set({ ...NOTHING, pending: command.command });
      try {
        const receipt = await stream.command(run, command);
        set({ ...NOTHING, note: receipt.note ?? null });
        return receipt;
      } catch (error) {
        set({ ...NOTHING, problem: problemWords(error) });
        return null;
      }
    },
    [run],
  );
  const clear = useCallback(() => setState(NOTHING), []);
  return { ...state, say, clear };
}
