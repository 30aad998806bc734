import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import edge from "@edge-runtime/vm";
import { build } from "esbuild";
import { toWebRequest } from "../../src/handler/node-request.ts";
import { applicationCode } from "./application-code.ts";
import { getProgram } from "./runtimes.ts";

export interface EdgeServer {
  url: string;
  stop(): Promise<void>;
}

export interface EdgeRuntime {
  name: string;
  /** Serves the application of `application-code.ts`; a POST to `/drive` drives it. */
  serve(project: string, env: Record<string, string>): Promise<EdgeServer>;
}

const serving = `
  const serve = async (request) => {
    const { origin, pathname } = new URL(request.url);
    if (pathname !== "/drive") return answer(request);
    try {
      return Response.json(await drive(origin + "/api/upload", await request.json()));
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  };
`;

/** As deploying to the edge does it: one module, nothing of Node's. */
async function bundle(project: string, code: string, format: "esm" | "iife"): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: applicationCode + serving + code, resolveDir: project },
    bundle: true,
    format,
    target: "es2022",
    external: ["node:*"],
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

const settings = (env: Record<string, string>) =>
  Object.entries(env)
    .map(([name, value]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(value)})`)
    .join(", ");

const workerd: EdgeRuntime = {
  name: "Cloudflare's workerd",
  async serve(project, env) {
    await writeFile(
      join(project, "worker.js"),
      await bundle(project, "export default { fetch: serve };", "esm"),
    );
    const config = `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [(name = "app", worker = .app), (name = "internet", network = (allow = ["local"]))],
        sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "app")],
      );
      const app :Workerd.Worker = (
        modules = [(name = "app", esModule = embed "worker.js")],
        compatibilityDate = "2026-10-01",
        bindings = [${settings(env)}],
      );`;
    await writeFile(join(project, "config.capnp"), config);
    const program = getProgram("@cloudflare/workerd-*/bin/workerd");
    const child = spawn(program, ["serve", "config.capnp", "--control-fd=3"], {
      cwd: project,
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
    const ended = once(child, "exit");
    for await (const line of createInterface(child.stdio[3] as Readable)) {
      const { event, port } = JSON.parse(line);
      if (event !== "listen") continue;
      return {
        url: `http://127.0.0.1:${port}`,
        async stop() {
          child.kill("SIGKILL");
          await ended;
        },
      };
    }
    throw new Error("workerd ended before it served");
  },
};

const edgeFunctions: EdgeRuntime = {
  name: "Vercel's edge runtime",
  async serve(project, env) {
    const code = 'addEventListener("fetch", (event) => event.respondWith(serve(event.request)));';
    const runtime = new edge.EdgeVM({
      // The platform gives functions their environment in this way, and nothing else of `process`.
      extend: (context) => Object.assign(context, { process: { env } }),
      initialCode: await bundle(project, code, "iife"),
    });
    const server = createServer(async (node, response) => {
      const { url, method, headers, body } = await toWebRequest(node, undefined, node);
      const init = {
        method,
        headers: [...headers],
        ...(body === null ? {} : { body: await new Response(body).text() }),
      };
      const answer = await runtime.dispatchFetch(url, init);
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async stop() {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      },
    };
  },
};

export const edgeRuntimes = [workerd, edgeFunctions];
