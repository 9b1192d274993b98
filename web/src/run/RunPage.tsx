export function RunPage() {
  return <h1 className="p-4 font-semibold">Run</h1>;
}
