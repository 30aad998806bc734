import { globSync } from "node:fs";
import { join } from "node:path";
import { applicationCode } from "./application-code.ts";

const modules = join(import.meta.dirname, "../../../../node_modules");

/** The program itself, not the package's launcher: that one copies it at its first run. */
export function getProgram(pattern: string): string {
  const [program] = globSync(pattern, { cwd: modules }).sort();
  if (program === undefined) throw new Error(`npm has installed no ${pattern} for this machine`);
  return join(modules, program);
}

export interface Runtime {
  name: string;
  /** The program and what stands before the script's name. */
  command(): [string, ...string[]];
  /** Code of a function that serves a handler and resolves with the server's `url` and `stop()`. */
  serve: string;
}

export const runtimes: Runtime[] = [
  {
    name: "Node",
    command: () => [process.execPath],
    serve: `async (handle) => {
      const { createServer } = await import("node:http");
      const server = createServer(async (request, response) => {
        const body = (await request.toArray()).join("");
        const { method, headers } = request;
        const answer = await handle(new Request("http://site/", { method, headers, ...(body && { body }) }));
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      });
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { url: "http://127.0.0.1:" + server.address().port, stop: () => server.close() };
    }`,
  },
  {
    name: "Deno",
    // No more rights than it needs: no subprocess, no writing.
    command: () => [
      getProgram("@deno/*/deno"),
      ...["run", "--quiet", "--no-lock", "--no-prompt", "--cached-only", "--node-modules-dir=manual"],
      ...["--allow-net=127.0.0.1", "--allow-read", "--allow-env"],
    ],
    serve: `async (handle) => {
      const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handle);
      return { url: "http://127.0.0.1:" + server.addr.port, stop: () => server.shutdown() };
    }`,
  },
  {
    name: "Bun",
    command: () => [getProgram("@oven/*/bin/bun"), "--no-install"],
    serve: `async (handle) => {
      const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: handle });
      return { url: server.url.href, stop: () => server.stop(true) };
    }`,
  },
];

/** What an application does with the package, by its path only where there are files. */
export const scriptFor = ({ serve }: Runtime) => `
  ${applicationCode}
  const serve = ${serve};
  const server = await serve(answer);
  const seen = await drive(server.url, JSON.parse(process.env.DELIVERY));
  await server.stop();
  const byPath = await createUpstow().upload("package.json");
  console.log(JSON.stringify({ byPath: [byPath.name, byPath.type], ...seen }));
`;
