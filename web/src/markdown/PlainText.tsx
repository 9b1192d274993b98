/** A text as it is. `isNoted` says so, where something else could be expected. */
export function PlainText({ text, isNoted = false }: { text: string; isNoted?: boolean }) {
  return (
    <div className="markdown">
      {isNoted && (
        <p className="text-2xs text-muted">Shown as plain text: it is too long or too deep to be laid out.</p>
      )}
      <p className="max-h-[70vh] overflow-y-auto wrap-anywhere whitespace-pre-wrap">{text}</p>
    </div>
  );
}
