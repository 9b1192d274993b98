import { useNavigate, useSearch } from '@tanstack/react-router';
import type { RunsSearch } from '../runs/search-params';
import { Modal } from '../steer/Modal';
import { NewRunForm } from './NewRunForm';

/** The dialog at `/?new=1`. */
export function NewRunDialog() {
  const search = useSearch({ from: '/' });
  const navigate = useNavigate();
  const close = () => {
    const { new: _, ...rest } = search;
    void navigate({ to: '/', search: rest satisfies RunsSearch, replace: true });
  };
  return (
    <Modal title="New run" size="large" onClose={close}>
      <NewRunForm
        wanted={search.workspace}
        onCancel={close}
        onStarted={(id) => void navigate({ to: '/runs/$id', params: { id }, replace: true })}
      />
    </Modal>
  );
}
