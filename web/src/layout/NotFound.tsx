import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <div className="p-6">
      <h1 className="mb-2 font-semibold text-lg">There is no such page</h1>
      <Link to="/" className="text-accent underline">
        Show all runs
      </Link>
    </div>
  );
}
