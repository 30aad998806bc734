import { imageWidth } from "../contenders/image-formats.ts";
import { createPhoto } from "../contenders/photo.ts";
import { requestUpload, storeFile, storeLarge } from "../contenders/stored-files.ts";
import { requestVariant, storeImage } from "../contenders/stored-images.ts";
import type { Upstow } from "../contenders/upstow.ts";

const smallBytes = 10 * 1024;
const listedFiles = 100;
const largeBytes = 100 * 1024 ** 2;

/** What was profiled, and can be again by its name. */
export interface HotPath {
  name: string;
  label: string;
  scenario: string;
  clients: number;
  isOnPostgres?: boolean;
  warmUpOperations?: number;
  facts?: (upstow: Upstow) => Promise<object>;
  /** The largest costs that profiling found, and what became of each; not all can go. */
  removed: [string, string, string];
}

export const hotPaths: HotPath[] = [
  {
    name: "list-projects",
    label: "GET /projects",
    scenario: "list-projects",
    clients: 32,
    removed: [
      "reading key, account and rows for every request: recalled while nobody has changed anything",
      "locks of the database file for every read: one snapshot for each turn of the event loop",
      "hooks and facts of the route for every request: known before it, and without promises",
    ],
  },
  {
    name: "request-upload",
    label: "POST /upload/request",
    scenario: "request-upload",
    clients: 32,
    removed: [
      "a savepoint for each transaction of a group: only when one of them fails",
      "an index over keys and one over the log: the id in the key and the primary key do their work",
      "counters written by insert-or-update: changed in place",
    ],
  },
  {
    name: "request-upload-postgres",
    label: "POST /upload/request, PostgreSQL",
    scenario: "request-upload",
    clients: 32,
    isOnPostgres: true,
    removed: [
      "waiting for the row lock of the project over another's fsync: transactions of a project shared",
      "a round trip for each count of a rate window: hits of one window counted together",
      "a round trip for each lookup of a key: one answer for all who asked before it",
    ],
  },
  {
    name: "upload-file",
    label: "whole upload of 10 KiB",
    scenario: "upload-file",
    clients: 32,
    facts: async () => ({ sizeBytes: smallBytes }),
    removed: [
      "a file and its own fsyncs for every body: up to 16 KiB a row, durable by a commit that others share",
      "savepoints and insert-or-update in request and completion: as above",
      "clocks and promises around every body: one timer for all, none where nothing is waited for",
    ],
  },
  {
    name: "get-file",
    label: "GET /f/… of 10 KiB",
    scenario: "get-file",
    clients: 32,
    facts: async (upstow) => ({ paths: [await storeLarge(upstow, smallBytes)], sizeBytes: smallBytes }),
    removed: [
      "opening, reading and streaming the file: small files are sent whole",
      "putting the same answer together again: kept while its row has not changed",
      "the lookup of the row: recalled, as above",
    ],
  },
  {
    name: "list-files",
    label: "GET /files, 100 of them",
    scenario: "list-files",
    clients: 4,
    warmUpOperations: 1000,
    facts: async (upstow) => {
      for (let i = 0; i < listedFiles; i++) await storeFile(upstow, smallBytes);
      return { query: `limit=${listedFiles}` };
    },
    removed: [
      "key, account and locks for every request: recalled and shared, as above",
      "a Date for every row to write its time: the day is kept",
      "reading the rows and writing them as JSON: remain, and are the largest",
    ],
  },
  {
    name: "get-variant",
    label: "GET /p/…, a rendered image of 75 KiB",
    scenario: "get-file",
    clients: 32,
    facts: async (upstow) => {
      const key = await storeImage(upstow, await createPhoto(), "image/jpeg");
      const path = await requestVariant(upstow, key, { width: imageWidth, format: "webp" });
      const image = await (await fetch(`${upstow.url}${path}`)).arrayBuffer();
      return { paths: [path], sizeBytes: image.byteLength };
    },
    removed: [
      "opening and streaming the variant: up to 128 KiB it is read whole, checked, and kept in memory",
      "lookups of file and variant: that of the file recalled, that of the variant remains",
      "locks of the database file for every read: one snapshot, as above",
    ],
  },
  {
    name: "get-large",
    label: "GET /f/… of 100 MiB",
    scenario: "get-file",
    clients: 1,
    warmUpOperations: 10,
    facts: async (upstow) => ({ paths: [await storeLarge(upstow, largeBytes)], sizeBytes: largeBytes }),
    removed: [
      "a new buffer for every piece: two that are used by turns",
      "the garbage of these buffers: none is made",
      "pipes and listeners for every piece: written straight to the connection",
    ],
  },
  {
    name: "put-large",
    label: "PUT of 100 MiB",
    scenario: "put-bytes",
    clients: 1,
    warmUpOperations: 10,
    facts: async (upstow) => ({
      paths: [(await requestUpload(upstow, largeBytes)).uploadPath],
      sizeBytes: largeBytes,
    }),
    removed: [
      "a clock for every body: one for all",
      "SHA-256: remains, and is the largest",
      "fsync and the copy from the connection: remain",
    ],
  },
];
