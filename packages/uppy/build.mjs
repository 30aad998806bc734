//   node build.mjs [folder]     writes there instead of to dist
import { buildPackage } from "../../scripts/build-package.mjs";

buildPackage(import.meta.dirname);
