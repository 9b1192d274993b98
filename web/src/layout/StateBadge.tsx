import { Check, CircleDot, Hand, Loader, type LucideIcon, Moon, X } from 'lucide-react';
import type { RunState } from '../wire';
import { activityWords, type Tone } from './activity-words';

const LOOKS: Record<Tone, { icon: LucideIcon; className: string }> = {
  busy: { icon: Loader, className: 'bg-accent-soft text-accent' },
  wait: { icon: Hand, className: 'bg-warn-soft text-warn' },
  ok: { icon: Check, className: 'bg-ok-soft text-ok' },
  bad: { icon: X, className: 'bg-bad-soft text-bad' },
  idle: { icon: Moon, className: 'bg-sunken text-muted' },
};

/** What a run is doing: by colour, word and picture. */
export function StateBadge({ activity }: { activity: RunState }) {
  const { words, tone, subject } = activityWords(activity);
  const { icon, className } = LOOKS[tone];
  const Icon = activity.state === 'responding' || activity.state === 'tool' ? CircleDot : icon;
  return (
    <span className={`chip max-w-full ${className}`} data-tone={tone}>
      <Icon
        aria-hidden
        className={`size-3.5 shrink-0 ${tone === 'busy' ? 'motion-safe:animate-pulse' : ''}`}
      />
      <span className="truncate" title={subject}>
        {words}
        {/* On a phone it would leave no room for what the run is for. */}
        {subject && <span className="max-sm:sr-only">: {subject}</span>}
      </span>
    </span>
  );
}
