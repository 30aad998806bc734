export const examples: string[];
export const examplePackages: string[];
export function areExamplesReady(root: string, names?: string[]): boolean;
export function installExamples(
  root: string,
  say: (message: string) => void,
  names?: string[],
): Promise<void>;
