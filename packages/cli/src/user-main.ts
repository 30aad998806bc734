import packageJson from "../package.json" with { type: "json" };
import { userCommands } from "./commands/user-commands.ts";
import { runCli } from "./run-cli.ts";

/** The published command: everything that works against any service, without the service itself. */
process.exitCode = await runCli(process.argv.slice(2), process, {
  version: packageJson.version,
  userCommands,
  operatorCommands: [],
  readConfig() {
    throw new Error("only operator commands read the configuration");
  },
});
