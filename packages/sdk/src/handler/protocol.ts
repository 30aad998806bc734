import type { CompletedFile } from "../wire/files.ts";
import type { ReceivedPart, SignedPart, UploadedPart } from "../wire/uploads.ts";
import type { CheckedRules, FileInfo } from "./rules.ts";

/** What a browser asks its own backend for. Tickets and tokens are sealed: opaque to the browser. */
export type Action =
  /** May I upload these files? The answer has one ticket for each that is welcome. */
  | {
      action: "begin";
      route: string;
      input?: unknown;
      files: FileInfo[];
      /** How many were added together. */
      of?: number;
      /** The browser can open and complete several files in one call. */
      groups?: boolean;
    }
  /** Opens the ticket's upload; asked again, it answers with the same upload and fresh URLs. */
  | { action: "start"; ticket: string; resume?: string }
  /** A group, or those of it that are still wanted; once, and asked again for the same files like `start`. */
  | { action: "startMany"; tickets: string[] }
  | { action: "sign"; token: string; partNumbers: number[] }
  | { action: "parts"; token: string }
  | { action: "complete"; token: string; parts?: UploadedPart[] }
  | { action: "completeMany"; tokens: string[] }
  | { action: "abort"; token: string; failure?: string };

export interface BeginAnswer {
  /** In the order of the files; empty for those that are refused. */
  tickets: string[];
  /** Likewise: the number of the group that a ticket is opened with, null where it is opened by itself. */
  groups?: (number | null)[];
  refusals?: (Refusal & { /** Of the file, from 0. */ index: number })[];
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
  /** In one piece. */
  uploadUrl?: string;
  /** In parts. */
  partSize?: number;
  parts?: SignedPart[];
  received?: ReceivedPart[];
}

/** What a browser may know of a file. */
export type PublicFile = Pick<CompletedFile, "id" | "key" | "name" | "size" | "type" | "url" | "sha256">;

export interface CompleteAnswer {
  file: PublicFile;
  result: unknown;
}

/** What `GET` answers: what a form may tell its users beforehand. */
export interface RoutesAnswer {
  routes: Record<string, CheckedRules>;
}
