import { onAbort } from "../http/wait.ts";
import type { Put } from "../transfer/put.ts";
import type { Xhr } from "./xhr.ts";

// A connection that sends nothing for this long is dead.
const stallMs = 60_000;

/** Only XMLHttpRequest reports how much of a body has been sent. */
export function createXhrPut(create: new () => Xhr): Put {
  return ({ url, body, contentType, signal, onProgress }) =>
    new Promise((resolve, reject) => {
      const xhr = new create();
      let stall: ReturnType<typeof setTimeout>;
      const cut = () => xhr.abort();
      const watch = () => {
        clearTimeout(stall);
        stall = setTimeout(cut, stallMs);
      };
      const settle = (act: () => void) => () => {
        clearTimeout(stall);
        leave();
        act();
      };
      xhr.upload.onprogress = ({ loaded }) => {
        watch();
        onProgress(loaded);
      };
      xhr.onload = settle(() => resolve({ status: xhr.status, etag: xhr.getResponseHeader("etag") ?? "" }));
      xhr.onerror = xhr.onabort = settle(() => reject(new TypeError("The connection was interrupted.")));
      xhr.open("PUT", url);
      if (contentType !== undefined) xhr.setRequestHeader("content-type", contentType);
      const leave = onAbort(signal, cut);
      watch();
      xhr.send(body);
    });
}
