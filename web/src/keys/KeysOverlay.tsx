import { useEffect, useRef } from 'react';
import { KEYS } from './keys';

const GROUPS = [...new Set(Object.values(KEYS).map((key) => key.where))];

/** All keys, from the table that they are listened for by. */
export function KeysOverlay({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      aria-labelledby="keys-title"
      className="w-[min(34rem,calc(100vw-2rem))] rounded-lg border border-line p-4 shadow-pop"
    >
      <div className="mb-2 flex items-center justify-between">
        <h2 id="keys-title" className="font-semibold text-base">
          Keys
        </h2>
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
      {GROUPS.map((group) => (
        <section key={group} className="mb-3">
          <h3 className="mb-1 text-2xs text-muted uppercase tracking-wide">{group}</h3>
          <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
            {Object.values(KEYS)
              .filter((key) => key.where === group)
              .map((key) => (
                <div key={key.does} className="contents">
                  <dt>{key.does}</dt>
                  <dd className="flex justify-end gap-1">
                    {key.keys.map((each) => (
                      <kbd
                        key={each}
                        className="rounded border border-line bg-sunken px-1.5 font-mono text-2xs"
                      >
                        {each}
                      </kbd>
                    ))}
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </dialog>
  );
}
