export { DeliveryError, type DeliveryErrorCode } from "./delivery-error.ts";
export type { WebhookEvent, WebhookOptions } from "./receive-delivery.ts";
export {
  type DeliveryEvent,
  type VerifiedDelivery,
  type VerifyInput,
  verifyDelivery,
} from "./verify-delivery.ts";
export { createWebhookHandler } from "./web-handler.ts";
