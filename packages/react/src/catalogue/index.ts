export { CATEGORIES, type CatalogueEntry, type Category, type PropEntry } from "./entry.ts";

import type { CatalogueEntry } from "./entry.ts";

export const catalogue: CatalogueEntry[] = [];
