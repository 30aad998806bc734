export { DeliveryError, type DeliveryErrorCode } from "./delivery-error.ts";
export { type VerifiedDelivery, type VerifyInput, verifyDelivery } from "./verify-delivery.ts";
