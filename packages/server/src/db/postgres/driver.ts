import { registerHooks } from "node:module";
import type postgres from "postgres";

/**
 * What 3.4.9 forgets when a connection is lost; `missing` belongs in front of `before`. The first two are reported
 * and open (porsager/postgres#1066, #1208).
 */
const corrections = [
  {
    // Without it the ROLLBACK of an interrupted transaction ends the process, outside of every promise, and a query
    // between a socket's error and its close is never answered.
    before: "    if (stream)\n      return queryError(q, Errors.generic('COPY_IN_PROGRESS'",
    missing:
      "    if (!socket || socket.destroyed) {\n      queryError(q, Errors.connection('CONNECTION_CLOSED', options))\n      return true\n    }\n",
  },
  {
    // Without it the connection comes back, but never sends anything again.
    before: "    socket.removeAllListeners()\n    socket = null\n",
    missing: "    chunk = nextWriteTimer = null\n",
  },
  {
    // Without it a query waits for ever, and a core with it, where something takes the connection for a PostgreSQL
    // that is away and closes it again.
    before: "    if (initial)\n      return reconnect()\n",
    missing:
      "    if (initial) {\n      queryError(initial, Errors.connection('CONNECTION_CLOSED', options))\n      initial = null\n    }\n",
  },
  {
    // Without it closing the pool waits for a query that has long been rejected.
    before: "    closedTime = performance.now()\n",
    missing: "    query = null\n",
  },
  // Without these four a query waits until TCP gives up, for a quarter of an hour, where the server's machine is gone
  // without a word. A statement that is let run for 10 seconds is answered within them, whatever the answer is.
  {
    before: "      , connectTimer = timer(",
    missing:
      "      , silenceTimer = timer(() => (query || sent.length) && socket && socket.destroy(Errors.connection('CONNECT_TIMEOUT', options, socket)), options.connection.statement_timeout / 1000 + 5)\n",
  },
  { before: "      build(q)\n      return write(toBuffer(q))", missing: "      silenceTimer.start()\n" },
  { before: "    if (incomings) {\n      incomings.push(x)", missing: "    silenceTimer.start()\n" },
  { before: "    idleTimer.cancel()\n    lifeTimer.cancel()\n", missing: "    silenceTimer.cancel()\n" },
];

/** Sets the corrected copy apart from one that somebody else in the process may have loaded. */
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
      throw new Error("postgres.js has changed: see whether its lost connections still need to be corrected");
    }
    return text.replace(before, () => missing + before);
  }, source);
}
