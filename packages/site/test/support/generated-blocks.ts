import {
  ACCOUNT_RATE_FACTOR,
  ADDRESS_LIMITS,
  GB,
  MB,
  RATE_LIMITS,
  TB,
  TIERS,
  type Tier,
} from "@upstow/contract";
import { hostedTools } from "@upstow/mcp";
import {
  DEFAULT_INSTANCE,
  type Framework,
  type PackageManager,
  renderInstallCommand,
  renderProvider,
  renderRouteHandler,
  renderSvelteEnv,
  renderViteServer,
  type SourceFile,
  USUAL_PACKAGES,
} from "@upstow/mcp/scaffolds";
import type { Command } from "../../../cli/src/command.ts";
import { program } from "../../../cli/src/program.ts";
import { configReference } from "../../../server/src/config/reference.ts";
import { renderCapacity } from "./capacity-table.ts";
import { renderLimits } from "./limits-table.ts";

const marker = /<!-- generated: ([^\n]*?) -->\n[\s\S]*?<!-- \/generated -->/g;

/** Fills every marked place of a page with what the code says today; figures stay as they were when asked to. */
export function fillGenerated(markdown: string, { keepsFigures }: { keepsFigures: boolean }): string {
  return markdown.replaceAll(marker, (whole, call: string) => {
    const [name = "", ...args] = call.split(" ");
    if (keepsFigures && name === "capacity") return whole;
    const render = blocks[name];
    if (render === undefined) throw new Error(`there is no generated block "${name}"`);
    return `<!-- generated: ${call} -->\n${render(...args)}\n<!-- /generated -->`;
  });
}

const imageRoute = { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image/*"] };

const blocks: Record<string, (...args: string[]) => string> = {
  capacity: () => {
    const { head, rows } = renderCapacity();
    return table(head, rows);
  },
  configuration: (group) =>
    table(
      ["Variable", "Default", "What it does"],
      configReference
        .filter(({ name }) => name.startsWith("UPSTOW_S3_") || group !== "s3")
        .map((variable) => [`\`${variable.name}\``, variable.default, variable.about]),
    ),
  install: (manager = "npm", only) =>
    fence(
      "sh",
      renderInstallCommand(
        DEFAULT_INSTANCE,
        manager as PackageManager,
        only === "sdk" ? ["@upstow/sdk"] : USUAL_PACKAGES,
      ),
    ),
  "route-handler": (framework = "next") =>
    sourceFence(renderRouteHandler({ framework: framework as Framework, ...imageRoute })),
  "vite-server": (file = "") => sourceFence(renderViteServer(imageRoute, 3000)[file as "router" | "server"]),
  commands: (group) => renderCommands(group === "user" ? program.userCommands : program.operatorCommands),
  provider: (tool) =>
    sourceFence(
      tool === "vite"
        ? { path: "src/upload-provider.tsx", code: renderProvider("../upload-router.js").code }
        : renderProvider(),
    ),
  "svelte-env": () => sourceFence(renderSvelteEnv()),
  tiers: renderTiers,
  "rate-limits": () =>
    table(
      ["Requests", "Limit per minute"],
      [
        ["`/upload/…`", `${RATE_LIMITS.upload} per key`],
        ["`/transforms/image`", `${RATE_LIMITS.transform} per key`],
        ["everything else combined", `${RATE_LIMITS.other} per key`],
        ["all keys of an account combined", `${ACCOUNT_RATE_FACTOR} times as many of each`],
        ["without a valid key", `${count(ADDRESS_LIMITS.unauthenticated)} per address`],
        ["rejected PUTs", `${ADDRESS_LIMITS.failedPut} per address`],
        ["the tool protocol", `${ADDRESS_LIMITS.toolProtocol} per address`],
      ],
    ),
  limits: (group = "") => {
    const { head, rows } = renderLimits(group);
    return table(head, rows);
  },
  tools: () =>
    table(
      ["Tool", "What it does"],
      hostedTools.map(({ name, description }) => [`\`${name}\``, description]),
    ),
};

function renderCommands(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary, positionals = [], options = {} }) => {
    const places = positionals.map((place) => {
      const shown = `${place.name}${place.isRepeated === true ? "…" : ""}`;
      return place.isOptional === true ? `[${shown}]` : `<${shown}>`;
    });
    const flags = Object.entries(options).map(([flag, { value, description }]) => {
      const written = value === undefined ? `--${flag}` : `--${flag} ${value}`;
      return `<br>\`${written}\` ${description}`;
    });
    return [`\`${[name, ...places].join(" ")}\``, `${summary}${flags.join("")}`.replaceAll("|", "\\|")];
  });
  return table(["Command", "What it does"], rows);
}

function renderTiers(): string {
  const tiers = Object.values(TIERS);
  const row = (title: string, show: (tier: Tier) => string) => [title, ...tiers.map(show)];
  return table(
    ["", ...Object.keys(TIERS).map((name) => name.charAt(0).toUpperCase() + name.slice(1))],
    [
      row("Largest file", (tier) => bytes(tier.maxFileSizeBytes)),
      row("Storage", (tier) => bytes(tier.storageBytes)),
      row("Uploads per month", (tier) => count(tier.uploadsPerMonth)),
      row("Bandwidth per month", (tier) => bytes(tier.bandwidthBytesPerMonth)),
      row("Transform units per month", (tier) => count(tier.transformUnitsPerMonth)),
      row("Projects", (tier) => count(tier.projects)),
      row("Live keys and test keys per project, each", (tier) => count(tier.keysPerProject)),
    ],
  );
}

function bytes(size: number | null): string {
  if (size === null) return "unlimited";
  if (size >= TB) return `${size / TB} TB`;
  return size >= GB ? `${size / GB} GB` : `${size / MB} MB`;
}

function count(number: number | null): string {
  return number === null ? "unlimited" : number.toLocaleString("en");
}

function sourceFence({ path, code }: SourceFile): string {
  return fence(path.endsWith(".tsx") ? "tsx" : "ts", `// ${path}\n${code.trimEnd()}`);
}

function fence(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}
