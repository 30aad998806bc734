/** A file before and after the change. */
export interface Change {
  /** Relative to the project's folder, with forward slashes. */
  path: string;
  /** Null if the file does not exist. */
  before: string | null;
  after: string;
}

/** Never to be shown: the key that goes into the project's environment. */
export type Mask = (text: string) => string;
