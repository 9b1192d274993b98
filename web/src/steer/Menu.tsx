import { ChevronDown } from 'lucide-react';
import { type ReactNode, useId, useRef } from 'react';

interface Props {
  /** What the button says; its name for who does not see it begins with `label`. */
  label: string;
  value: string;
  icon: ReactNode;
  /** What is in the menu; `close` closes it. */
  children: (close: () => void) => ReactNode;
}

/** A button and what it opens: the browser's own popover, which closes by Escape and a click elsewhere. */
export function Menu({ label, value, icon, children }: Props) {
  const id = useId();
  const anchor = `--steer-${id.replaceAll(/[^a-zA-Z0-9]/g, '')}`;
  const menu = useRef<HTMLDivElement>(null);
  return (
    <>
      <button
        type="button"
        className="button max-w-48 max-sm:max-w-36"
        popoverTarget={id}
        aria-label={`${label}: ${value}`}
        title={label}
        style={{ anchorName: anchor }}
      >
        {icon}
        <span className="truncate">{value}</span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0" />
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        className="steer-menu w-72 max-w-[calc(100vw-1rem)] rounded-lg border border-line bg-bg p-3 text-ink shadow-pop"
        style={{ positionAnchor: anchor }}
      >
        {children(() => menu.current?.hidePopover?.())}
      </div>
    </>
  );
}
