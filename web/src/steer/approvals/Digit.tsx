/** The key that makes a choice while its card has the focus. */
export function Digit({ children }: { children: string }) {
  return (
    <kbd aria-hidden className="mr-1.5 hidden font-mono text-2xs opacity-60 md:inline">
      {children}
    </kbd>
  );
}
