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
    /** Creates links that the service can count. Keys without a file are listed in `failures`; that is not an error. */
    create: (body: CreateLinksBody, options?: PostOptions): Promise<CreatedLinks> =>
      unlessNoneFound(request<CreatedLinks>("POST", "/files/links", options, body)),

    /** Like `files.grant`, but created by the service, which logs the `subject`. */
    createGrant: (body: CreateGrantBody, options?: PostOptions): Promise<Grant> =>
      pick<"grant", Grant>(request, "grant")("POST", "/files/grants", options, body),

    /** Revokes links and grants immediately. */
    revoke: (body: RevokeLinksBody, options?: PostOptions): Promise<RevokedLinks> =>
      unlessNoneFound(request<RevokedLinks>("POST", "/files/links/revoke", options, body)),

    /** The keys that sign links and grants. Keep them on your server. */
    readKeys: {
      get: (options?: RequestOptions) => request<ReadKeys>("GET", "/files/read-keys", options),
      /** Revokes everything the current key signed. */
      rotate: (options?: PostOptions) => request<ReadKeys>("POST", "/files/read-keys/rotate", options),
    },
  };
}
