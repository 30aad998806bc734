import type {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  RedeliverBody,
  RedeliverResult,
  SigningKeys,
} from "../wire/webhooks.ts";
import { list } from "./list.ts";
import type { PostOptions, Request, RequestOptions } from "./request.ts";

const root = "/webhooks/deliveries";

export function createWebhooks(request: Request) {
  return {
    deliveries: {
      /** Newest first. */
      list: (query: DeliveryQuery = {}, options: RequestOptions = {}) =>
        list<"deliveries", Delivery>(request, root, "deliveries", query, options),
      /** With its payload and attempts. */
      async get(id: string, options?: RequestOptions) {
        const to = `${root}/${encodeURIComponent(id)}`;
        return (await request<{ delivery: DeliveryDetail }>("GET", to, options)).delivery;
      },
      async redeliver(id: string, options?: PostOptions) {
        const to = `${root}/${encodeURIComponent(id)}/redeliver`;
        return (await request<{ delivery: Delivery }>("POST", to, options)).delivery;
      },
      redeliverMany: (body: RedeliverBody, options?: PostOptions) =>
        request<RedeliverResult>("POST", `${root}/redeliver`, { ...options, body }),
    },
    signingKeys: {
      get: (options?: RequestOptions) => request<SigningKeys>("GET", "/webhooks/signing-keys", options),
      /** Within 24 hours of the last rotation this needs `force`. */
      rotate: (body: { force?: boolean } = {}, options?: PostOptions) =>
        request<SigningKeys>("POST", "/webhooks/signing-keys/rotate", { ...options, body }),
    },
  };
}
