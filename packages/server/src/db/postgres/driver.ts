import { registerHooks } from "node:module";
import type postgres from "postgres";

/**
 * What 3.4.9 forgets when a connection is lost; `missing` has to be inserted before `before`. The first two are
 * reported and open (porsager/postgres#1066, #1208).
 */
const corrections = [
  {
    // Without it, the ROLLBACK of an interrupted transaction crashes the process outside of any promise, and a query
    // between a socket's error and its close never settles.
    before: "    if (stream)\n      return queryError(q, Errors.generic('COPY_IN_PROGRESS'",
    missing:
      "    if (!socket || socket.destroyed) {\n      queryError(q, Errors.connection('CONNECTION_CLOSED', options))\n      return true\n    }\n",
  },
  {
    // Without it, the connection is restored but never sends anything again.
    before: "    socket.removeAllListeners()\n    socket = null\n",
    missing: "    chunk = nextWriteTimer = null\n",
  },
  {
    // Without it, a query waits forever at 100% CPU if something accepts the connection in place of an unavailable
    // PostgreSQL and closes it again.
    before: "    if (initial)\n      return reconnect()\n",
    missing:
      "    if (initial) {\n      queryError(initial, Errors.connection('CONNECTION_CLOSED', options))\n      initial = null\n    }\n",
  },
  {
    // Without it, closing the pool waits for a query that was rejected long ago.
    before: "    closedTime = performance.now()\n",
    missing: "    query = null\n",
  },
  // Without these four, a query waits 15 minutes for TCP to give up if the server's machine vanishes silently. A
  // statement with a limit of 10 seconds gets a result or an error within them.
  {
    before: "      , connectTimer = timer(",
    missing:
      "      , silenceTimer = timer(() => (query || sent.length) && socket && socket.destroy(Errors.connection('CONNECT_TIMEOUT', options, socket)), options.connection.statement_timeout / 1000 + 5)\n",
  },
  { before: "      build(q)\n      return write(toBuffer(q))", missing: "      silenceTimer.start()\n" },
  { before: "    if (incomings) {\n      incomings.push(x)", missing: "    silenceTimer.start()\n" },
  { before: "    idleTimer.cancel()\n    lifeTimer.cancel()\n", missing: "    silenceTimer.cancel()\n" },
];

/** Distinguishes the corrected copy from one that other code in the process may have loaded. */
const mark = "?corrected";

export async function loadPostgresDriver(): Promise<typeof postgres> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const isOurs = context.parentURL?.endsWith(mark) && resolved.url.startsWith("file:");
      return isOurs ? { ...resolved, url: resolved.url + mark } : resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/postgres/src/connection.js${mark}`)) return loaded;
      return { ...loaded, source: correct(String(loaded.source)) };
    },
  });
  try {
    return (await import(import.meta.resolve("postgres") + mark)).default;
  } finally {
    hooks.deregister();
  }
}

function correct(source: string): string {
  return corrections.reduce((text, { before, missing }) => {
    if (text.split(before).length !== 2) {
      throw new Error(
        "postgres.js has changed: check whether its handling of lost connections still needs corrections",
      );
    }
    return text.replace(before, () => missing + before);
  }, source);
}
