export { operatorCommands } from "./operator-commands.ts";
export { userCommands } from "./user-commands.ts";
