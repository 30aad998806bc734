// Brings the marked tables and examples of the documentation up to date with the code:
//   npx node packages/site/test/write-generated.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { docFiles, readDoc, root } from "./support/doc-files.ts";
import { fillGenerated } from "./support/generated-blocks.ts";

for (const file of docFiles) {
  const before = readDoc(file);
  const after = fillGenerated(before, { keepsFigures: false });
  if (after === before) continue;
  writeFileSync(join(root, file), after);
  process.stdout.write(`wrote ${file}\n`);
}
