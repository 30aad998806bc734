export interface BuildTarget {
  name: string;
  inputs: string[];
  output: string;
  command: string[];
}

export function isStale(root: string, target: BuildTarget): boolean;
export function buildTarget(root: string, target: BuildTarget, say: (message: string) => void): Promise<void>;
