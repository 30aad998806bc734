export interface CreateLinksBody {
  /** Up to 100 storage keys or ids. */
  keys: string[];
  /** Seconds, 1 to 604,800. Default 3,600. */
  expiresIn?: number;
  /** Makes browsers save the file: true under its own name, a string under that name. */
  download?: boolean | string;
  /** How often the link can be used, 1 to 1,000. Unlimited by default. */
  maxUses?: number;
}

export interface Link {
  /** The key or id from the request. */
  key: string;
  url: string;
  expiresAt: string;
  maxUses: number | null;
}

export interface CreatedLinks {
  links: Link[];
  failures: { key: string; code: string; message: string }[];
}

/** Requires exactly one of `routeSlug`, `prefix` and `audience`. */
export interface CreateGrantBody {
  /** All files of this route. */
  routeSlug?: string;
  /** All files whose key starts with this, after `<project id>/`. */
  prefix?: string;
  /** All files of this audience. */
  audience?: string;
  /** Seconds, 1 to 86,400. Default 3,600. */
  expiresIn?: number;
  /** Who the grant is for. Shown in the logs. */
  subject?: string;
}

export interface Grant {
  token: string;
  /** `<baseUrl>/<key>` is the URL of a file. */
  baseUrl: string;
  expiresAt: string;
}

/** Requires exactly one field. */
export interface RevokeLinksBody {
  /** Revokes all links to these files, up to 100 keys or ids. */
  keys?: string[];
  /** Revokes all links and grants of this audience. */
  audience?: string;
  /** Revokes all links and grants of the environment. */
  all?: true;
}

export interface RevokedLinks {
  /** Number of files whose links were revoked. 0 for an audience or all. */
  revoked: number;
  failures: { key: string; code: string; message: string }[];
}

export interface ReadKeys {
  /** `rdk_…`, signs links and grants. */
  current: string;
  /** `rdk_…`, signs after the next rotation. */
  next: string;
}
