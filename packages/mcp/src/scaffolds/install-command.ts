export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

export const PACKAGES = ["@upstow/sdk", "@upstow/react", "@upstow/uppy"] as const;
export type Package = (typeof PACKAGES)[number];
/** The third is for those who have Uppy already. */
export const USUAL_PACKAGES: readonly Package[] = ["@upstow/sdk", "@upstow/react"];

/** The documentation's URL where the reader's instance is unknown. */
export const DEFAULT_INSTANCE = "http://localhost:4000";

/** Every instance serves the packages that fit it. */
export function packageUrl(instanceUrl: string, name: Package): string {
  return `${instanceUrl}/packages/${name.replace("@upstow/", "")}.tgz`;
}

export function renderInstallCommand(
  instanceUrl: string,
  manager: PackageManager,
  packages: readonly Package[],
): string {
  // The other two need it, and no registry has it.
  const names = [...new Set<Package>(["@upstow/sdk", ...packages])];
  const verb = manager === "npm" ? "install" : "add";
  // Yarn accepts a URL only together with a name.
  const sources = names.map(
    (name) => `${manager === "yarn" ? `${name}@` : ""}${packageUrl(instanceUrl, name)}`,
  );
  return `${manager} ${verb} ${sources.join(" ")}`;
}
