/** A path that can be decoded: a `%` that begins no character stands for itself. */
export function repairPath(path: string): string {
  const repair = (part: string) => {
    try {
      decodeURIComponent(part);
      return part;
    } catch {
      return part.replaceAll('%', '%25');
    }
  };
  return path.split('/').map(repair).join('/');
}

/** Makes the address one that the router can read. A mistyped one then leads to the page that says so. */
export function repairAddress(): void {
  const path = repairPath(location.pathname);
  if (path !== location.pathname) history.replaceState(null, '', path + location.search + location.hash);
}
