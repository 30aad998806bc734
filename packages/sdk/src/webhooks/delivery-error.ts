export type DeliveryErrorCode =
  /** The header Delivery-Signature is missing or empty. */
  | "SIGNATURE_MISSING"
  /** Not a complete token: truncated, or something else entirely. */
  | "SIGNATURE_MALFORMED"
  /** The token says that it is not signed (alg none). */
  | "SIGNATURE_NONE"
  /** Signed with an algorithm other than HS256. */
  | "ALGORITHM_REFUSED"
  /** The signature matches none of the keys. */
  | "SIGNATURE_INVALID"
  | "ISSUER_MISMATCH"
  /** Signed for a different URL. */
  | "URL_MISMATCH"
  | "EXPIRED"
  | "NOT_YET_VALID"
  | "BODY_MISMATCH"
  /** The header Delivery-Message-Id differs from what was signed. */
  | "MESSAGE_MISMATCH"
  /** The header Delivery-Attempt differs from what was signed. */
  | "ATTEMPT_MISMATCH"
  /** The header Delivery-Event differs from what was signed. */
  | "EVENT_MISMATCH"
  /** The header Delivery-Environment differs from what was signed, or the key belongs to the other environment. */
  | "ENVIRONMENT_MISMATCH"
  /** A signing key or the URL passed to the verifier is invalid; no delivery could pass. */
  | "BAD_CONFIGURATION";

/** Why a delivery was rejected. Respond with 401, except for BAD_CONFIGURATION, which is yours to fix. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  readonly code: DeliveryErrorCode;

  constructor(code: DeliveryErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
