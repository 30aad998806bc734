export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

export const PACKAGES = ["@upstow/sdk", "@upstow/react"] as const;
export type Package = (typeof PACKAGES)[number];

export function renderInstallCommand(manager: PackageManager, packages: readonly Package[]): string {
  const verb = manager === "npm" ? "install" : "add";
  return `${manager} ${verb} ${[...new Set(packages)].join(" ")}`;
}
