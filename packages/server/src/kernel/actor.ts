import type { Environment, TierName } from "@upstow/contract";

/** Who makes a call: the key presented, with what it is bound to. */
export interface Actor {
  keyId: string;
  projectId: string;
  accountId: string;
  environment: Environment;
  /** The customer's bucket that new files go to; null for the installation's store. */
  storeName: string | null;
  /** The domain that files are given out at; null for the installation's own. */
  cdnUrl: string | null;
  tier: TierName;
  /** Set for Enterprise accounts that were given limits of their own. */
  rateUpload: number | null;
  rateTransform: number | null;
  rateOther: number | null;
  transformUnits: number | null;
}
