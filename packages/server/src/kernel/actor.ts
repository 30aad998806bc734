import type { Environment, TierName } from "@upstow/contract";

/** The caller: the API key and what it is bound to. */
export interface Actor {
  keyId: string;
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
