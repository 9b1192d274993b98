import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, type LoginSession, unwrap } from '../api/client';
import { messageOf } from '../api/error';
import { logOut } from '../api/login';
import { Modal } from '../steer/Modal';
import { deviceName } from './derive-device';
import { formatTime } from './format';

const KEY = ['login-sessions'];

/** The browsers that are logged in, and how to log them out. */
export function SessionsDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const sessions = useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(api.GET('/api/v1/login-sessions')),
  });
  const end = useMutation({
    mutationFn: async (session: LoginSession | 'others') => {
      const { response } =
        session === 'others'
          ? await api.DELETE('/api/v1/login-sessions', { params: { query: { keep_current: true } } })
          : await api.DELETE('/api/v1/login-sessions/{session}', {
              params: { path: { session: session.id } },
            });
      if (!response.ok && response.status !== 404) throw new Error('The server could not end the session.');
    },
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  const items = sessions.data?.items ?? [];
  const error = sessions.error ?? end.error;
  return (
    <Modal title="Login sessions" onClose={onClose}>
      {error && (
        <p role="alert" className="mb-2 text-bad">
          {messageOf(error)}
        </p>
      )}
      <ul className="mb-4 grid gap-2">
        {items.map((session) => (
          <li key={session.id} className="flex items-center gap-2">
            <div className="min-w-0 flex-1">
              <p className="truncate" title={session.user_agent ?? undefined}>
                {deviceName(session.user_agent ?? null)}
                {session.is_current && <span className="text-muted"> (this browser)</span>}
              </p>
              <p className="text-muted text-xs">
                Last used {formatTime(session.last_used_at)}, logged in {formatTime(session.created_at)}
              </p>
            </div>
            {!session.is_current && (
              <button
                type="button"
                className="button"
                disabled={end.isPending}
                onClick={() => end.mutate(session)}
              >
                Log out
              </button>
            )}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap justify-end gap-2">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
        {items.length > 1 && (
          <button
            type="button"
            className="button"
            disabled={end.isPending}
            onClick={() => end.mutate('others')}
          >
            Log out all others
          </button>
        )}
        <button type="button" className="button" data-primary onClick={() => void logOut()}>
          Log out this browser
        </button>
      </div>
    </Modal>
  );
}
