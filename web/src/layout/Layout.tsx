import { Link, Outlet } from '@tanstack/react-router';

export function Layout() {
  return (
    <div className="flex h-full flex-col">
      <header className="flex items-center gap-3 border-line border-b px-3 py-1.5">
        <Link to="/" className="font-semibold">
          ralph
        </Link>
      </header>
      <main className="min-h-0 flex-1">
        <Outlet />
      </main>
    </div>
  );
}
