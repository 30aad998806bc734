import type { AuthorKind, Environment, TierName } from "@upstow/contract";

/** The caller: the API key and what it is bound to. */
export interface Actor {
  keyId: string;
  /** The name of the key, or the email of the person who is signed in. */
  name: string;
  projectId: string;
  accountId: string;
  environment: Environment;
  /** The customer's bucket for new files; null for the installation's store. */
  storeName: string | null;
  /** The domain that serves the files; null for the installation's own. */
  cdnUrl: string | null;
  tier: TierName;
  /** Set for Enterprise accounts with custom limits. */
  rateUpload: number | null;
  rateTransform: number | null;
  rateOther: number | null;
  transformUnits: number | null;
}

/** Who makes a change and from where, as the audit trail records it. */
export interface Author {
  kind: AuthorKind;
  /** Of the account or the key. */
  id: string | null;
  /** The email, the key's name, or the operating system's user. */
  name: string;
  address: string | null;
  /** The client, or the operator's command. */
  userAgent: string;
}

/** The service itself, when no person, key or command is behind a change. */
export const serviceAuthor: Author = {
  kind: "service",
  id: null,
  name: "upstow",
  address: null,
  userAgent: "",
};
