/** Callers that name the same thing while it is being done get the same result; it is done once. */
export function createShared<Rest extends unknown[], T>(
  work: (name: string, ...rest: Rest) => Promise<T>,
): (name: string, ...rest: Rest) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (name, ...rest) => {
    const known = running.get(name);
    if (known !== undefined) return known;
    const started = work(name, ...rest).finally(() => running.delete(name));
    running.set(name, started);
    return started;
  };
}
