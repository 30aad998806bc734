import { type ObjectStore, StorageUnavailable } from "./object-store.ts";

/** Every store that files may be in: the installation's own, and the buckets that customers brought. */
export interface ObjectStores {
  /** The store of this name, as it is recorded on a file. Throws `UnknownStore` where there is none. */
  get(name: string): ObjectStore | Promise<ObjectStore>;
}

/** Removed since, or of another installation: nothing in it can be reached, and nothing of ours is left in it. */
export class UnknownStore extends StorageUnavailable {}
