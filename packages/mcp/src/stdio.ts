#!/usr/bin/env node
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import packageJson from "../package.json" with { type: "json" };
import { findApiDocument } from "./find-api-document.ts";
import { createServer } from "./server.ts";
import { openSources } from "./sources.ts";
import { hostedTools } from "./tools.ts";
import { canTransform, createTransformTool } from "./transform-tool.ts";

const { UPSTOW_URL: url, UPSTOW_API_KEY: apiKey } = process.env;
const baseUrl = (url || "http://localhost:4000").replace(/\/+$/, "");
const [api, mayTransform] = await Promise.all([
  findApiDocument(baseUrl),
  apiKey !== undefined && canTransform(baseUrl, apiKey),
]);
const tools =
  apiKey !== undefined && mayTransform ? [...hostedTools, createTransformTool(baseUrl, apiKey)] : hostedTools;
const sources = openSources(api);

// Answers go to the standard output; clients show what is said here in their log of the server.
if (apiKey && !mayTransform)
  process.stderr.write(
    `upstow-mcp: transform_image is not offered: at ${baseUrl}, UPSTOW_API_KEY is no live key of a paid plan, or nothing answers.\n`,
  );

serveStdio(() => createServer(sources, tools, packageJson.version));
