export interface CreateLinksBody {
  /** Up to 100 storage keys or ids. */
  keys: string[];
  /** Seconds, at most 604,800; 3,600 unless given. */
  expiresIn?: number;
  /** True makes browsers save the file, a text under this name. */
  download?: boolean | string;
  /** How often it can be used, at most 1,000; unlimited unless given. */
  maxUses?: number;
}

export interface Link {
  /** As it was sent. */
  key: string;
  url: string;
  expiresAt: string;
  maxUses: number | null;
}

export interface CreatedLinks {
  links: Link[];
  failures: { key: string; code: string; message: string }[];
}

/** Exactly one of the first three. */
export interface CreateGrantBody {
  /** Every file of this route. */
  routeSlug?: string;
  /** Every file whose key begins like this, after the project id and its slash. */
  prefix?: string;
  /** Every file of this audience. */
  audience?: string;
  /** Seconds, at most 86,400; 3,600 unless given. */
  expiresIn?: number;
  /** Who it is for; appears in the logs. */
  subject?: string;
}

export interface Grant {
  token: string;
  /** A key behind it and a slash is the address of the file. */
  baseUrl: string;
  expiresAt: string;
}

/** Exactly one of the three. */
export interface RevokeLinksBody {
  /** Ends all links of these files: up to 100 keys or ids. */
  keys?: string[];
  /** Ends all links and grants of this audience. */
  audience?: string;
  /** Ends everything of the environment. */
  all?: true;
}

export interface RevokedLinks {
  /** Files whose links ended; 0 for an audience or all. */
  revoked: number;
  failures: { key: string; code: string; message: string }[];
}

export interface ReadKeys {
  /** `rdk_…` signs links and grants. */
  current: string;
  /** `rdk_…` signs after the next rotation. */
  next: string;
}
