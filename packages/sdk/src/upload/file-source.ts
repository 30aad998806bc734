import type { ByteSource } from "./byte-source.ts";
import { guessContentType } from "./content-type.ts";

/** The only module that needs a file system. Loaded only for paths, because edge runtimes have none. */
export async function openFile(path: string | URL): Promise<ByteSource> {
  const [{ open }, { basename }] = await Promise.all([import("node:fs/promises"), import("node:path")]);
  const file = await open(path, "r");
  const name = basename(typeof path === "string" ? path : decodeURIComponent(path.pathname));
  const { size } = await file.stat();
  return {
    sizeBytes: size,
    name,
    type: guessContentType(name),
    async read(start, end) {
      const bytes = new Uint8Array(end - start);
      let filled = 0;
      while (filled < bytes.byteLength) {
        const { bytesRead } = await file.read(bytes, filled, bytes.byteLength - filled, start + filled);
        if (bytesRead === 0) throw new Error(`"${name}" was truncated while it was being read.`);
        filled += bytesRead;
      }
      return bytes;
    },
    close: () => file.close(),
  };
}
