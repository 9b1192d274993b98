import { type ReactNode, useId } from 'react';

interface Props {
  label: string;
  problem: string | undefined;
  help?: ReactNode;
  className?: string;
  /** The control gets these, so that its name, its help and its fault are told with it. */
  children: (control: { id: string; 'aria-invalid': boolean; 'aria-describedby': string }) => ReactNode;
}

/** A field of the dialog, with what it means and what is wrong with it. */
export function Field({ label, problem, help, className = '', children }: Props) {
  const id = useId();
  const told = `${id}-told`;
  return (
    <div className={`grid min-w-0 content-start gap-1 ${className}`}>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({ id, 'aria-invalid': problem !== undefined, 'aria-describedby': told })}
      <p id={told} className={`break-words text-xs ${problem ? 'text-bad' : 'text-muted'}`}>
        {problem ?? help}
      </p>
    </div>
  );
}
