import { memo, useEffect, useSyncExternalStore } from 'react';
import { canChange, type QueuedMessage } from './derive-queue';
import type { Outbox } from './outbox';
import { QueueItem } from './QueueItem';

interface Props {
  run: string;
  now: QueuedMessage[];
  earlier: QueuedMessage[];
  outbox: Outbox;
}

/** How many of the earlier ones are shown. */
const MOST_EARLIER = 50;

/** The messages to the agent, and how far each of them is. */
export const QueueList = memo(function QueueList({ run, now, earlier, outbox }: Props) {
  const edits = useSyncExternalStore(outbox.subscribe, () => outbox.edits);
  const notice = useSyncExternalStore(outbox.subscribe, () => outbox.notice);
  useEffect(() => {
    for (const id of edits.keys()) {
      const message = [...now, ...earlier].find((each) => each.id === id);
      if (message && !canChange(message)) outbox.rescueEdit(id, message.text);
    }
  }, [edits, now, earlier, outbox]);
  if (now.length === 0 && earlier.length === 0) return null;
  return (
    <section aria-label="Messages to the agent" className="text-xs">
      <p role="status" className="text-warn">
        {notice}
      </p>
      {now.length > 0 && (
        <ul className="max-h-40 divide-y divide-line overflow-y-auto rounded border border-line">
          {now.map((message) => (
            <QueueItem
              key={message.id}
              run={run}
              message={message}
              outbox={outbox}
              edit={edits.get(message.id)}
            />
          ))}
        </ul>
      )}
      {earlier.length > 0 && (
        <details>
          <summary className="w-fit rounded text-muted">
            {earlier.length === 1 ? '1 earlier message' : `${earlier.length} earlier messages`}
          </summary>
          <ul className="max-h-40 divide-y divide-line overflow-y-auto rounded border border-line">
            {earlier
              .slice(-MOST_EARLIER)
              .reverse()
              .map((message) => (
                <QueueItem
                  key={message.id}
                  run={run}
                  message={message}
                  outbox={outbox}
                  edit={edits.get(message.id)}
                />
              ))}
          </ul>
        </details>
      )}
    </section>
  );
});
