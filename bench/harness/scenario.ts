import type { Connection } from "./connection.ts";

/** Where a server listens, and what else a scenario needs to know. It travels to another process as JSON. */
export interface Target {
  port: number;
  /** Of several instances, where there are more than one. */
  ports?: readonly number[];
  [fact: string]: unknown;
}

/** What one client does over and over. A step is one operation as a user counts it, and throws when it failed. */
export type Scenario<T extends Target> = (target: T, connection: Connection, client: number) => Step;
export type Step = () => Promise<void>;
