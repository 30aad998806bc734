/** Who still has to read which blobs, and which of these are to be removed afterwards. */
export function createReaders() {
  const counts = new Map<string, number>();
  const leaving = new Set<string>();
  return {
    add(blobs: string[]): void {
      for (const blob of blobs) counts.set(blob, (counts.get(blob) ?? 0) + 1);
    },
    /** Whether the removal has to wait for readers. */
    postpone(blob: string): boolean {
      if (!counts.has(blob)) return false;
      leaving.add(blob);
      return true;
    },
    /** Returns what is to be removed now. */
    leave(blobs: string[]): string[] {
      const free: string[] = [];
      for (const blob of blobs) {
        const others = (counts.get(blob) ?? 1) - 1;
        if (others > 0) counts.set(blob, others);
        else {
          counts.delete(blob);
          if (leaving.delete(blob)) free.push(blob);
        }
      }
      return free;
    },
  };
}
