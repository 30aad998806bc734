/** Whether a drag carries files at all, and not text or a link. */
export function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") ?? false;
}

/** The files of a drop, with those inside dropped folders. */
export async function readDroppedFiles(data: DataTransfer): Promise<File[]> {
  // The list is emptied as soon as the event is over, so everything is taken before the first wait.
  const entries = [...data.items].map((item) => (item.kind === "file" ? item.webkitGetAsEntry() : null));
  if (!entries.some((entry) => entry?.isDirectory)) return [...data.files];
  const files = [...data.files];
  const found = await Promise.all(
    entries.map((entry, i) => (entry?.isDirectory ? readFolder(entry) : [files[i]])),
  );
  return found.flat().filter((file) => file !== undefined);
}

async function readFolder(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    return [
      await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
    ];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const children: FileSystemEntry[] = [];
  // A reader hands out a hundred at a time.
  for (;;) {
    const more = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (more.length === 0) break;
    children.push(...more);
  }
  return (await Promise.all(children.map(readFolder))).flat();
}
