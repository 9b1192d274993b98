import {
  CircleCheck,
  CircleSlash,
  CircleX,
  Hand,
  LoaderCircle,
  type LucideIcon,
  Moon,
  PencilLine,
  ShieldX,
} from 'lucide-react';
import type { ToolCallState } from '../run/tool-call';

interface StateLook {
  word: string;
  icon: LucideIcon;
  tone: string;
}

/** A state is told by a picture, a word and a colour. */
export const STATES: Record<ToolCallState, StateLook> = {
  preparing: { word: 'being written', icon: PencilLine, tone: 'text-muted' },
  running: { word: 'running', icon: LoaderCircle, tone: 'text-accent' },
  waiting: { word: 'waiting for you', icon: Hand, tone: 'text-warn' },
  completed: { word: 'done', icon: CircleCheck, tone: 'text-ok' },
  failed: { word: 'failed', icon: CircleX, tone: 'text-bad' },
  denied: { word: 'not allowed', icon: ShieldX, tone: 'text-warn' },
  cancelled: { word: 'cancelled', icon: CircleSlash, tone: 'text-muted' },
  background: { word: 'in the background', icon: Moon, tone: 'text-accent' },
};
