import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Command, OperatorError } from "../command.ts";
import { connect, getConnection } from "../connection.ts";

export const open: Command = {
  name: "open",
  summary: "Open the dashboard or a file in the browser",
  positionals: [
    { name: "key", description: "a file's storage key (default: the dashboard)", isOptional: true },
  ],
  async run(call) {
    const [key] = call.positionals;
    const url =
      key === undefined
        ? `${getConnection(call).url}/dashboard`
        : (await (await connect(call)).files.get(key)).url;
    await showInBrowser(url, call.env);
    return { json: { url }, text: url };
  },
};

const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

async function showInBrowser(url: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { env, stdio: "ignore", detached: true });
  try {
    await once(child, "spawn");
  } catch {
    throw new OperatorError(
      "NOT_FOUND",
      `Cannot open a browser: ${program} did not start. Open ${url} yourself.`,
    );
  }
  child.unref();
}
