#!/usr/bin/env node
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import packageJson from "../package.json" with { type: "json" };
import { findApiDocument } from "./find-api-document.ts";
import { judgeKey } from "./judge-key.ts";
import { createServer } from "./server.ts";
import { openSources } from "./sources.ts";
import type { Tool } from "./tool.ts";
import { hostedTools } from "./tools.ts";
import { createTransformTool } from "./transform-tool.ts";

const { UPSTOW_URL: url, UPSTOW_API_KEY: apiKey } = process.env;
const baseUrl = (url || "http://localhost:4000").replace(/\/+$/, "");
const [api, extraTools] = await Promise.all([findApiDocument(baseUrl), findExtraTools()]);
const sources = openSources(api, baseUrl);
const tools = [...hostedTools, ...extraTools];

serveStdio(() => createServer(sources, tools, packageJson.version));

/**
 * A key that can't be checked now is checked by the service when the tool is called. Reaching the rate limit, or starting
 * this before the service, should not remove the tool for the whole session.
 */
async function findExtraTools(): Promise<Tool[]> {
  if (!apiKey) return [];
  const verdict = await judgeKey(baseUrl, apiKey);
  if (verdict.fit === false) {
    const why = `at ${baseUrl}, UPSTOW_API_KEY is not a live key of an account on a paid plan: ${verdict.reason}`;
    tell(`transform_image is not offered: ${why}.`);
    return [];
  }
  if (verdict.fit === "unknown") {
    tell(`UPSTOW_API_KEY could not be checked at ${baseUrl}: ${verdict.reason}.`);
    tell("transform_image is still offered; the service checks the key when it is called.");
  }
  return [createTransformTool(baseUrl, apiKey)];
}

/** Responses go to standard output; clients show standard error in their log of the server. */
function tell(line: string): void {
  process.stderr.write(`upstow-mcp: ${line}\n`);
}
