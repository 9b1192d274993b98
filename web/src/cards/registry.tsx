import type { ReactNode } from 'react';
import type { ToolCall } from '../run/tool-call';
import type { ToolKind } from '../wire';
import { CardBoundary } from './CardBoundary';
import { CardFrame } from './CardFrame';
import type { Card } from './card';
import { command } from './kinds/command';
import { edit } from './kinds/edit';
import { move, read, remove, search } from './kinds/files';
import { GenericBody, generic, mcp } from './kinds/generic';
import { agent, mode, plan, question } from './kinds/talk';
import { fetchPage, webSearch } from './kinds/web';
import { Nothing } from './parts';

/** Tools that are shown otherwise than their kind says, or whose kind an older record did not know. */
const BY_NAME: Record<string, Card> = {
  AskUserQuestion: question,
  Bash: command,
  Edit: edit,
  ExitPlanMode: mode,
  Glob: search,
  Grep: search,
  MultiEdit: edit,
  NotebookEdit: edit,
  Read: read,
  Task: agent,
  TodoWrite: plan,
  WebFetch: fetchPage,
  WebSearch: webSearch,
  Write: edit,
};

const BY_KIND: Record<ToolKind, Card> = {
  execute: command,
  read,
  edit,
  delete: remove,
  move,
  search,
  fetch: fetchPage,
  web_search: webSearch,
  plan,
  mcp,
  agent,
  question,
  switch_mode: mode,
  other: generic,
};

/** The card of a call: by the tool's name, else by its kind, else one that fits all. */
export function cardOf(call: Pick<ToolCall, 'name' | 'kind'>): Card {
  // A server may call its tool as it likes.
  if (call.kind !== 'mcp' && Object.hasOwn(BY_NAME, call.name)) return BY_NAME[call.name] ?? generic;
  return Object.hasOwn(BY_KIND, call.kind) ? BY_KIND[call.kind] : generic;
}

interface ToolCardProps {
  call: ToolCall;
  /** The id of the run. */
  run: string;
  /** Buttons beside the heading. */
  rawSlot?: ReactNode;
  /** Below the body, also when it is closed: what a subagent did. */
  children?: ReactNode;
}

/** A tool call. Whatever its arguments are, there is something to see. */
export function ToolCard({ call, run, rawSlot, children }: ToolCardProps) {
  const card = cardOf(call);
  const plain = (why: string) => (
    <CardFrame card={generic} call={call} rawSlot={rawSlot}>
      <Nothing>Shown plainly, because the card cannot show this call: {why.slice(0, 300)}</Nothing>
      <CardBoundary resetKey={call} fallback={() => <Nothing>Its raw output is there all the same.</Nothing>}>
        <GenericBody call={call} run={run} />
      </CardBoundary>
    </CardFrame>
  );
  return (
    <>
      <CardBoundary resetKey={call} fallback={plain}>
        <CardFrame card={card} call={call} rawSlot={rawSlot}>
          <card.Body call={call} run={run} />
        </CardFrame>
      </CardBoundary>
      {children}
    </>
  );
}
