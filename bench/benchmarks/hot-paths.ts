import { imageWidth } from "../contenders/image-formats.ts";
import { createPhoto } from "../contenders/photo.ts";
import { requestUpload, storeFile, storeLarge } from "../contenders/stored-files.ts";
import { requestVariant, storeImage } from "../contenders/stored-images.ts";
import type { Upstow } from "../contenders/upstow.ts";

const smallBytes = 10 * 1024;
const listedFiles = 100;
const largeBytes = 100 * 1024 ** 2;

export interface ProfiledPath {
  label: string;
  /** The largest costs that profiling found, and what became of each; not all can go. */
  costs: [string, string, string];
}

/** What can be profiled again by its name. */
export interface HotPath extends ProfiledPath {
  name: string;
  scenario: string;
  clients: number;
  isOnPostgres?: boolean;
  warmUpOperations?: number;
  facts?: (upstow: Upstow) => Promise<object>;
}

export const hotPaths: HotPath[] = [
  {
    name: "list-projects",
    label: "GET /projects",
    scenario: "list-projects",
    clients: 32,
    costs: [
      "reading key, account and rows for every request: recalled while nobody has changed anything",
      "locks of the database file for every read: one snapshot for each turn of the event loop",
      "hooks and facts of the route for every request: known before it",
    ],
  },
  {
    name: "request-upload",
    label: "POST /upload/request",
    scenario: "request-upload",
    clients: 32,
    costs: [
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
    costs: [
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
    costs: [
      "a file and its own fsyncs for every body: a row where it is small, durable by a commit that others share",
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
    costs: [
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
    costs: [
      "reading rows: only the columns that are shown, and the day of a time is not taken apart again",
      "JSON written field by field: in one pass by the engine",
      "percent-encoding of every key: plain ones are left as they are",
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
    costs: [
      "opening and streaming the variant: up to 128 KiB it is read whole, checked, and kept in memory",
      "lookups of file and variant: recalled, as above",
      "putting the same answer together again: kept while its rows have not changed",
    ],
  },
  {
    name: "get-large",
    label: "GET /f/… of 100 MiB",
    scenario: "get-file",
    clients: 1,
    warmUpOperations: 10,
    facts: async (upstow) => ({ paths: [await storeLarge(upstow, largeBytes)], sizeBytes: largeBytes }),
    costs: [
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
    costs: [
      "collecting the memory of what arrived: freed as soon as it is written",
      "SHA-256: remains, and is half of the rest",
      "fsync and the copy from the connection: remain",
    ],
  },
];

export const events: ProfiledPath = {
  label: "an event sent to a webhook",
  costs: [
    "handshake and connection, half of it: a TLS context for all and the session of the one before, the rest remains, since every delivery's address has to be judged",
    "sorting all that is due to an endpoint, and counting what is under way there, at each claim: an index in the order of sending, and a count on the endpoint",
    "signals, timers and errors of each attempt, keys made ready for each signature: one timer, and keys kept ready",
  ],
};

export const signing: ProfiledPath = {
  label: "a URL signed for a PUT to a bucket",
  costs: [
    "names and values encoded and sorted for every URL: put together once a second, and what is plain left as it is",
    "time and scope written for every URL: once a second",
    "HMAC and SHA-256: remain, and are two thirds of the rest",
  ],
};
