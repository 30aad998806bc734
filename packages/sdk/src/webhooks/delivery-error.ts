export type DeliveryErrorCode =
  /** The header Delivery-Signature is absent or empty. */
  | "SIGNATURE_MISSING"
  /** It is not a whole token: cut short, or something else altogether. */
  | "SIGNATURE_MALFORMED"
  /** The token says that it is not signed (alg none). */
  | "SIGNATURE_NONE"
  /** Signed with another algorithm than HS256. */
  | "ALGORITHM_REFUSED"
  /** None of the keys made this signature. */
  | "SIGNATURE_INVALID"
  | "ISSUER_MISMATCH"
  /** Signed for another URL than the one given. */
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
  /** A signing key or the URL given to the verifier cannot be one; no delivery could pass. */
  | "BAD_CONFIGURATION";

/** Why a delivery was refused. Answer 401, save for BAD_CONFIGURATION, which is for you to mend. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  readonly code: DeliveryErrorCode;

  constructor(code: DeliveryErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
