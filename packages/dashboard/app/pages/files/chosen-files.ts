/** A file, and the folder that it was chosen with, such as "photos/2026/"; empty where it came alone. */
export interface Chosen {
  file: File;
  folder: string;
}

/** System files in folders that users don't intend to upload. */
const litter = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);

/** The selection from a file or folder dialog. */
export function readChoice(files: Iterable<File>): Chosen[] {
  const chosen = [...files].map((file) => ({ file, folder: folderOf(file.webkitRelativePath) }));
  return withoutLitter(chosen);
}

/** Dropped files, including the contents of dropped folders. */
export async function readDrop(data: DataTransfer): Promise<Chosen[]> {
  // The list is emptied as soon as the event is over, so everything is taken before the first wait.
  const files = [...data.files];
  const entries = [...data.items]
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry());
  const found = entries.map((entry, i): Chosen[] | Promise<Chosen[]> => {
    const file = files[i];
    if (entry?.isDirectory === true) return readFolder(entry as FileSystemDirectoryEntry);
    return file === undefined ? [] : [{ file, folder: "" }];
  });
  return withoutLitter((await Promise.all(found)).flat());
}

async function readFolder(directory: FileSystemDirectoryEntry): Promise<Chosen[]> {
  const reader = directory.createReader();
  const found: Chosen[][] = [];
  // A reader returns a hundred entries at a time.
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return found.flat();
    found.push(...(await Promise.all(entries.map(readEntry))));
  }
}

async function readEntry(entry: FileSystemEntry): Promise<Chosen[]> {
  if (entry.isDirectory) return readFolder(entry as FileSystemDirectoryEntry);
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  return [{ file, folder: folderOf(entry.fullPath) }];
}

function folderOf(path: string): string {
  return path.replace(/^\//, "").replace(/[^/]*$/, "");
}

/** Only where a folder was taken as a whole: a file that was chosen by itself is meant. */
function withoutLitter(chosen: Chosen[]): Chosen[] {
  return chosen.filter(({ file, folder }) => folder === "" || !litter.has(file.name));
}
