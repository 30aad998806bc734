export { CATEGORIES, type CatalogueEntry, type Category, type PropEntry } from "./entry.ts";

import { button } from "./button.ts";
import { classic } from "./classic.ts";
import { display } from "./display.ts";
import { dropzone } from "./dropzone.ts";
import type { CatalogueEntry } from "./entry.ts";
import { gallery } from "./gallery.ts";
import { motion } from "./motion.ts";
import { progress } from "./progress.ts";
import { specialty } from "./specialty.ts";

export const catalogue: CatalogueEntry[] = [
  ...classic,
  ...dropzone,
  ...button,
  ...progress,
  ...motion,
  ...specialty,
  ...gallery,
  ...display,
];
