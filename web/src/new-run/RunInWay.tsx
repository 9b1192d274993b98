import { Link } from '@tanstack/react-router';
import { runIn } from './derive-form';

/** Leads to the run that stands in the way of another one, if a refusal speaks of one. */
export function RunInWay({ message }: { message: string | null | undefined }) {
  const id = message ? runIn(message) : null;
  if (!id) return null;
  return (
    <Link to="/runs/$id" params={{ id }} className="w-fit text-accent underline">
      Show the run that is there
    </Link>
  );
}
