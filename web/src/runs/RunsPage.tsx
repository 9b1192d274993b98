export function RunsPage() {
  return <h1 className="p-4 font-semibold">Runs</h1>;
}
