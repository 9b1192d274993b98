import { Link } from '@tanstack/react-router';

export function NotFound({ what = 'There is no such page' }: { what?: string }) {
  return (
    <div className="p-6">
      <h1 className="mb-2 font-semibold text-lg">{what}</h1>
      <Link to="/" className="text-accent underline">
        Show all runs
      </Link>
    </div>
  );
}
