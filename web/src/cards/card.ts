import type { LucideIcon } from 'lucide-react';
import type { ComponentType, ReactNode } from 'react';
import type { ToolCall } from '../run/tool-call';

export interface CardProps {
  call: ToolCall;
  /** The id of the run. */
  run: string;
}

/** How calls of one kind of tool are shown. */
export interface Card {
  icon: LucideIcon;
  /** What the tool is called, if not by its name. */
  title?: (call: ToolCall) => string;
  /** What it is used on, in one line, if not the call's subject. */
  subject?: (call: ToolCall) => string | null;
  /** Whether the subject is words, not code. */
  isProse?: boolean;
  /** Whether the body tells the subject too, so that the heading of an open card need not. */
  isSubjectInBody?: (call: ToolCall) => boolean;
  /** Something short beside the state, such as the number of lines. */
  note?: (call: ToolCall) => ReactNode;
  /** Whether it is open before anybody opens or closes it. What failed is open anyway. */
  isOpen?: (call: ToolCall) => boolean;
  Body: ComponentType<CardProps>;
}
