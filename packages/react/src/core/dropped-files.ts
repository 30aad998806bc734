/** Whether a drag carries files rather than text or a link. */
export function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") ?? false;
}

export interface DroppedFiles {
  files: File[];
  /** Names of folders and files that the browser could not open. */
  unreadable: string[];
}

/** Chromium only. */
interface WithHandle {
  getAsFileSystemHandle?(): Promise<unknown>;
}

/** The files of a drop, including those inside dropped folders. */
export async function readDroppedFiles(data: DataTransfer): Promise<DroppedFiles> {
  // The list is emptied when the event ends, so read everything before the first await.
  const dropped = [...data.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => {
      const entry = item.webkitGetAsEntry();
      const handle = entry?.isDirectory ? undefined : (item as WithHandle).getAsFileSystemHandle?.();
      return { file: item.getAsFile(), entry, handle };
    });
  const unreadable: string[] = [];
  const found = await Promise.all(
    dropped.map(async ({ file, entry, handle }) => {
      if (entry?.isDirectory) return readEntry(entry, unreadable);
      // With it, the uploader can continue after a reload without a second drop.
      return file === null
        ? []
        : Object.assign(file, { handle: (await handle?.catch(() => null)) ?? undefined });
    }),
  );
  return { files: found.flat(), unreadable };
}

/** Files that cannot be opened are reported and skipped; the others are still uploaded. */
async function readEntry(entry: FileSystemEntry, unreadable: string[]): Promise<File[]> {
  try {
    if (entry.isFile) {
      return [
        await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
      ];
    }
    const children = await listFolder(entry as FileSystemDirectoryEntry);
    return (await Promise.all(children.map((child) => readEntry(child, unreadable)))).flat();
  } catch {
    unreadable.push(entry.name);
    return [];
  }
}

async function listFolder(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const children: FileSystemEntry[] = [];
  // A reader returns at most 100 entries at a time.
  for (;;) {
    const more = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (more.length === 0) return children;
    children.push(...more);
  }
}
