export interface DebianPackage {
  package: string;
  command?: string;
  /** Of a library, which has no command. */
  path?: string;
  why: string;
}
export const testPackages: DebianPackage[];
export const chartPackages: DebianPackage[];
export const tuspyPackages: DebianPackage[];
export const isCi: boolean;
/** The path of an installed program, or null. */
export function findCommand(command: string): string | null;
export function findMissingPackages(packages: DebianPackage[]): DebianPackage[];
export function installDebianPackages(
  packages: DebianPackage[],
  say: (message: string) => void,
): Promise<void>;
