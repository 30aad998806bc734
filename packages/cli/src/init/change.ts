/** A file as it is and as it will be. */
export interface Change {
  /** From the project's folder, with forward slashes. */
  path: string;
  /** Null where there is none. */
  before: string | null;
  after: string;
}

/** What must be shown to nobody: the key that goes into the project's environment. */
export type Mask = (text: string) => string;
