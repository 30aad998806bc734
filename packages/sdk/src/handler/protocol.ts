import type { CompletedFile, ImportProgress } from "../wire/files.ts";
import type { ReceivedPart, SignedPart, UploadedPart } from "../wire/uploads.ts";
import type { CheckedRules, FileInfo } from "./rules.ts";

/** The calls a browser makes to its own backend. Tickets and tokens are sealed: opaque to the browser. */
export type Action =
  /** Requests permission to upload files. The response has a ticket for each accepted file. */
  | {
      action: "begin";
      route: string;
      input?: unknown;
      files: FileInfo[];
      /** The number of files added together. */
      of?: number;
      /** Whether the browser can open and complete several files in one call. */
      groups?: boolean;
    }
  /** Opens the ticket's upload; when repeated, returns the same upload with new URLs. */
  | { action: "start"; ticket: string; resume?: string }
  /** Opens a group, or those of its files still wanted. Opens it once; repeats for the same files work like `start`. */
  | { action: "startMany"; tickets: string[] }
  | { action: "sign"; token: string; partNumbers: number[] }
  | { action: "parts"; token: string }
  | { action: "complete"; token: string; parts?: UploadedPart[] }
  | { action: "completeMany"; tokens: string[] }
  | { action: "abort"; token: string; failure?: string }
  /** Lets the service fetch a URL. The token is for `importState`, which is asked until the file is there. */
  | { action: "import"; route: string; url: string; input?: unknown }
  | { action: "importState"; token: string; isCancelled?: boolean };

/** A read handler's response to requests that accept only JSON. */
export interface ReadAnswer {
  /** May be relative to the request's URL. */
  url: string;
  /** Null if the URL does not expire. */
  expiresAt: string | null;
  /** Seconds, for browsers whose clock is wrong. */
  expiresIn: number | null;
}

export interface BeginAnswer {
  /** In the order of the files; empty for rejected ones. */
  tickets: string[];
  /** In the same order: the number of the ticket's group, or null if it is opened by itself. */
  groups?: (number | null)[];
  refusals?: (Refusal & { /** The file's index, from 0. */ index: number })[];
}

export interface Refusal {
  code: string;
  status: number;
  message: string;
  suggestion?: string | undefined;
  /** Seconds. */
  retryAfter?: number | undefined;
}

/** In the order of the request. */
export interface ManyAnswer<Answer> {
  answers: (Answer | { refusal: Refusal })[];
}

export interface StartAnswer {
  token: string;
  /** In one request. */
  uploadUrl?: string;
  /** In parts. */
  partSize?: number;
  parts?: SignedPart[];
  received?: ReceivedPart[];
}

/** What a browser may know about a file. */
export type PublicFile = Pick<CompletedFile, "id" | "key" | "name" | "size" | "type" | "url" | "sha256">;

export interface CompleteAnswer {
  file: PublicFile;
  result: unknown;
}

export interface ImportAnswer {
  token: string;
}

export type ImportStateAnswer = CompleteAnswer | { progress: ImportProgress };

/** The response to `GET`, so that forms can show the rules beforehand. */
export interface RoutesAnswer {
  routes: Record<string, CheckedRules>;
}
