#!/usr/bin/env node
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import packageJson from "../package.json" with { type: "json" };
import { createServer } from "./server.ts";
import { openSources } from "./sources.ts";
import { hostedTools } from "./tools.ts";
import { canTransform, createTransformTool } from "./transform-tool.ts";

const { UPSTOW_URL: baseUrl = "http://localhost:4000", UPSTOW_API_KEY: apiKey } = process.env;
const tools =
  apiKey !== undefined && (await canTransform(baseUrl, apiKey))
    ? [...hostedTools, createTransformTool(baseUrl, apiKey)]
    : hostedTools;
const sources = openSources();

serveStdio(() => createServer(sources, tools, packageJson.version));
