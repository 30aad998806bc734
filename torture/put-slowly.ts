import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";

export interface Pace {
  contentType: string;
  pieces: number;
  pauseMs: number;
}

/** A PUT whose body arrives in pieces. */
export async function putSlowly(url: string, bytes: Buffer, { contentType, pieces, pauseMs }: Pace) {
  const step = Math.ceil(bytes.length / pieces);
  async function* send() {
    for (let at = 0; at < bytes.length; at += step) {
      yield bytes.subarray(at, at + step);
      await wait(pauseMs);
    }
  }
  const headers = { "content-type": contentType, "content-length": bytes.length };
  const sending = request(url, { method: "PUT", headers });
  // A refusal may come before all is sent.
  const [[answer]] = (await Promise.all([once(sending, "response"), pipeline(send, sending)])) as [
    [IncomingMessage],
    unknown,
  ];
  return { status: answer.statusCode ?? 0, etag: answer.headers.etag ?? "", text: await text(answer) };
}
