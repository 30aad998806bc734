import type { McpServer } from "@modelcontextprotocol/server";

type Transport = Parameters<McpServer["connect"]>[0];
type Message = Parameters<Transport["send"]>[0];

const internalError = -32_603;
const invalidParams = -32_602;

/**
 * The library reports invalid parameters as an internal error, with the validator's full output. They are the caller's
 * mistake, and the first problem in one sentence is enough to fix it.
 */
export function shortenErrors(server: McpServer): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(shorten(message), options);
    return connect(transport);
  };
}

function shorten(message: Message): Message {
  if (!("error" in message)) return message;
  const { code, message: text } = message.error;
  if (code !== internalError && code !== invalidParams) return message;
  const problem = findProblem(text);
  if (problem === null) return message;
  return { ...message, error: { code: invalidParams, message: `Invalid params: ${problem}` } };
}

interface Issue {
  path: (string | number)[];
  message: string;
}

/** Null for every text but the validator's list of issues, with or without words in front. */
function findProblem(text: string): string | null {
  try {
    const [issue] = JSON.parse(text.slice(text.indexOf("["))) as Issue[];
    if (issue === undefined) return null;
    const path = issue.path.filter((part, i) => i > 0 || part !== "params").join(".");
    return `${path || "params"}: ${issue.message.replace(/^Invalid input: /, "")}`;
  } catch {
    return null;
  }
}
