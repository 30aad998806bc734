export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

export const PACKAGES = ["@upstow/sdk", "@upstow/react", "@upstow/uppy"] as const;
export type Package = (typeof PACKAGES)[number];
/** The third is for those who have Uppy already. */
export const USUAL_PACKAGES: readonly Package[] = ["@upstow/sdk", "@upstow/react"];

export function renderInstallCommand(manager: PackageManager, packages: readonly Package[]): string {
  const verb = manager === "npm" ? "install" : "add";
  return `${manager} ${verb} ${[...new Set(packages)].join(" ")}`;
}
