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

serveStdio(() => createServer(sources, tools, packageJson.version));
