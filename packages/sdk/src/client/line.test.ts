import assert from "node:assert/strict";
import { it } from "node:test";
import { createLine } from "./line.ts";
import { watchOnline } from "./online.ts";

it("sends when the browser is online again, before its event says so", async (t) => {
  let isOnline = true;
  const page = new EventTarget();
  const given = {
    navigator: {
      get onLine() {
        return isOnline;
      },
    },
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
  };
  for (const [name, value] of Object.entries(given)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() =>
      before === undefined
        ? Reflect.deleteProperty(globalThis, name)
        : Object.defineProperty(globalThis, name, before),
    );
  }
  const online = watchOnline(() => {});
  t.after(online.close);
  isOnline = false;
  page.dispatchEvent(new Event("offline"));
  isOnline = true;
  const line = createLine(async () => ({ status: 200, etag: "" }), 1, online);
  const stop = new AbortController();
  let interruptions = 0;
  const { status } = await line({
    url: "",
    body: new Uint8Array(),
    signal: stop.signal,
    onProgress() {
      if (++interruptions > 10) stop.abort(new Error("it is interrupted again and again"));
    },
  });
  assert.deepEqual([status, interruptions], [200, 0]);
});
