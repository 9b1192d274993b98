import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export function NotFound({
  what = 'There is no such page',
  children,
}: {
  what?: string;
  children?: ReactNode;
}) {
  return (
    <div className="p-6">
      <h1 className="mb-2 font-semibold text-lg">{what}</h1>
      {children && <p className="mb-2">{children}</p>}
      <Link to="/" className="text-accent underline">
        Show all runs
      </Link>
    </div>
  );
}
