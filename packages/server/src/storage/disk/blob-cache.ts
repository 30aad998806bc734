/** Small blobs in memory, the least recently used thrown out first. Blobs never change, so nothing goes stale. */
export function createBlobCache(capacityBytes: number) {
  const blobs = new Map<string, Buffer>();
  let heldBytes = 0;

  return {
    find(blob: string): Buffer | null {
      const bytes = blobs.get(blob);
      if (bytes === undefined) return null;
      blobs.delete(blob);
      blobs.set(blob, bytes);
      return bytes;
    },
    keep(blob: string, bytes: Buffer): void {
      if (blobs.has(blob) || bytes.length > capacityBytes) return;
      blobs.set(blob, bytes);
      heldBytes += bytes.length;
      for (const [oldest, old] of blobs) {
        if (heldBytes <= capacityBytes) return;
        blobs.delete(oldest);
        heldBytes -= old.length;
      }
    },
  };
}

export type BlobCache = ReturnType<typeof createBlobCache>;
