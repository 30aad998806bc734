import type {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  RedeliverBody,
  RedeliverResult,
  SigningKeys,
} from "../wire/webhooks.ts";
import { list } from "./list.ts";
import { type PostOptions, pathTo, pick, type Request, type RequestOptions } from "./request.ts";

const root = "webhooks/deliveries";

export function createWebhooks(request: Request) {
  return {
    deliveries: {
      /** Newest first. */
      list: (query?: DeliveryQuery, options?: RequestOptions) =>
        list<"deliveries", Delivery>(request, `/${root}`, "deliveries", query, options),
      /** Includes its payload and attempts. */
      get: (id: string, options?: RequestOptions) =>
        pick<"delivery", DeliveryDetail>(request, "delivery")("GET", pathTo(root, id), options),
      redeliver: (id: string, options?: PostOptions) =>
        pick<"delivery", Delivery>(request, "delivery")("POST", pathTo(root, id, "/redeliver"), options),
      redeliverMany: (body: RedeliverBody, options?: PostOptions) =>
        request<RedeliverResult>("POST", `/${root}/redeliver`, options, body),
    },
    signingKeys: {
      get: (options?: RequestOptions) => request<SigningKeys>("GET", "/webhooks/signing-keys", options),
      /** Requires `force` within 24 hours of the last rotation. */
      rotate: (body: { force?: boolean } = {}, options?: PostOptions) =>
        request<SigningKeys>("POST", "/webhooks/signing-keys/rotate", options, body),
    },
  };
}
