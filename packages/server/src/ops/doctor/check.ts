export type CheckStatus = "ok" | "warning" | "failed";

export interface Check {
  name: string;
  status: CheckStatus;
  message: string;
  /** What to do about it. */
  fix?: string;
}

/** The checks of one subject. */
export function createChecks(name: string) {
  return {
    ok: (message: string): Check => ({ name, status: "ok", message }),
    warning: (message: string, fix: string): Check => ({ name, status: "warning", message, fix }),
    failed: (message: string, fix: string): Check => ({ name, status: "failed", message, fix }),
  };
}
