import { globSync } from "node:fs";
import { join } from "node:path";

const modules = join(import.meta.dirname, "../../../../node_modules");

/** The program itself, not the package's launcher: that one copies it at its first run. */
function getProgram(pattern: string): string {
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

/** What an application does with the package: every way to upload, on a server of the runtime's own. */
export const scriptFor = ({ serve }: Runtime) => `
  import { createUpstow, UpstowError } from "@upstow/sdk";
  import { createUploader } from "@upstow/sdk/client";
  import { createFileRouter, createRouteHandler, UpstowAuthError } from "@upstow/sdk/server";
  import "@upstow/sdk/next";
  import "@upstow/sdk/express";
  import "@upstow/sdk/fastify";
  import "@upstow/sdk/hono";
  import "@upstow/sdk/sveltekit";
  import { verifyDelivery } from "@upstow/sdk/webhooks";

  const largeBytes = 11 * 1024 * 1024;
  const upstow = createUpstow();
  const byPath = await upstow.upload("package.json");
  const stream = new Blob([new Uint8Array(largeBytes)]).stream();
  const byStream = await upstow.upload(stream, { name: "stream.bin", size: largeBytes });

  const f = createFileRouter();
  const handle = createRouteHandler({
    router: {
      any: f({
        middleware({ request }) {
          if (request.headers.get("x-user") === null) throw new UpstowAuthError("Sign in first.");
        },
        onUploadComplete: ({ file }) => file.size,
      }),
    },
  });
  const serve = ${serve};
  const server = await serve(handle);
  const uploader = createUploader({ endpoint: server.url, headers: { "x-user": "ann" }, verify: true });
  const files = [new File(["hello"], "hello.txt"), new File([new Uint8Array(largeBytes)], "large.bin")];
  const uploaded = await uploader.upload("any", files);
  const codeOf = (error) => error instanceof UpstowError && error.code;
  const stranger = createUploader({ endpoint: server.url, retries: 0 });
  const refused = await stranger.upload("any", files[0]).catch(codeOf);
  await server.stop();

  const forged = { body: "{}", url: "https://a.example/", headers: new Headers(), currentKey: "whsec_a", nextKey: "whsec_b" };
  console.log(JSON.stringify({
    byPath: [byPath.name, byPath.type],
    byStream: byStream.size,
    uploaded: uploaded.map(({ result, isVerified }) => [result, isVerified]),
    refused,
    missing: await upstow.files.get("nothing").catch(codeOf),
    forged: await verifyDelivery(forged).then(() => "taken", (error) => error.constructor.name),
  }));
`;
