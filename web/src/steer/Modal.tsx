import './steer.css';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** How wide it is at most. */
  size?: 'small' | 'large';
}

/** A dialog that is open as long as it is there. The focus goes back to where it was. */
export function Modal({ title, onClose, children, size = 'small' }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      // The browser does the same, but not where the dialog has been taken away with what was around it.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const width = size === 'small' ? 'w-[min(30rem,calc(100vw-1rem))]' : 'w-[min(44rem,calc(100vw-1rem))]';
  return (
    <dialog
      ref={dialog}
      aria-labelledby={name}
      className={`${width} max-h-[calc(100dvh-1rem)] overflow-y-auto rounded-lg border border-line p-0 shadow-pop`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="p-4 max-sm:p-3">
        <h2 id={name} className="mb-3 font-semibold text-base">
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}
