import type {
  CreatedLinks,
  CreateGrantBody,
  CreateLinksBody,
  Grant,
  ReadKeys,
  RevokedLinks,
  RevokeLinksBody,
} from "../wire/links.ts";
import { type PostOptions, pick, type Request, type RequestOptions, unlessNoneFound } from "./request.ts";

export function createLinks(request: Request) {
  return {
    /** Links made by the service, which can count their uses. Keys without a file are in `failures`; that is no error. */
    create: (body: CreateLinksBody, options?: PostOptions): Promise<CreatedLinks> =>
      unlessNoneFound(request<CreatedLinks>("POST", "/files/links", options, body)),

    /** As `files.grant`, but made by the service, which notes its `subject` in the logs. */
    createGrant: (body: CreateGrantBody, options?: PostOptions): Promise<Grant> =>
      pick<"grant", Grant>(request, "grant")("POST", "/files/grants", options, body),

    /** Ends links and grants at once. */
    revoke: (body: RevokeLinksBody, options?: PostOptions): Promise<RevokedLinks> =>
      unlessNoneFound(request<RevokedLinks>("POST", "/files/links/revoke", options, body)),

    /** What signs links and grants: secrets that belong on servers. */
    readKeys: {
      get: (options?: RequestOptions) => request<ReadKeys>("GET", "/files/read-keys", options),
      /** Ends everything that the current key signed. */
      rotate: (options?: PostOptions) => request<ReadKeys>("POST", "/files/read-keys/rotate", options),
    },
  };
}
