export function withLock<T>(
  directory: string,
  say: (message: string) => void,
  work: () => Promise<T>,
): Promise<T>;
