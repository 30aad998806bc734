import { driveExample } from "./drive-example.ts";

driveExample({
  name: "sveltekit",
  isBuilt: true,
  server: () => ["build/index.js"],
  file: { name: "picture.webp", mimeType: "image/webp", sizeBytes: 300_000 },
});
