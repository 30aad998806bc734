/** A cache that saves a process work. Nothing may depend on it: when it is full, it drops everything. */
export interface ShortMemory<Value> {
  remember(name: string, value: Value): void;
  find(name: string): Value | undefined;
  /** Finds and forgets it. */
  take(name: string): Value | undefined;
}

export function createShortMemory<Value>(most: number): ShortMemory<Value> {
  const remembered = new Map<string, Value>();
  return {
    remember(name, value) {
      if (remembered.size >= most) remembered.clear();
      remembered.set(name, value);
    },
    find: (name) => remembered.get(name),
    take(name) {
      const value = remembered.get(name);
      if (value !== undefined) remembered.delete(name);
      return value;
    },
  };
}
