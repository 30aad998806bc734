import type { OutgoingDelivery, Send, SendResult } from "../../../src/webhooks/send.ts";

export const ok: SendResult = { statusCode: 200, error: null, response: "" };

/** A network that answers at once and remembers every request. */
export function createNetwork(answer: (delivery: OutgoingDelivery) => Promise<SendResult> = async () => ok) {
  const sent: { url: string; messageId: string; attempt: string }[] = [];
  const send: Send = async (delivery, stop) => {
    sent.push({
      url: delivery.url.href,
      messageId: delivery.headers["delivery-message-id"] ?? "",
      attempt: delivery.headers["delivery-attempt"] ?? "",
    });
    const stopped = new Promise<never>((_resolve, reject) => {
      stop.addEventListener("abort", () => reject(stop.reason));
    });
    return Promise.race([answer(delivery), stopped]);
  };
  return { sent, send };
}
