import { driveExample } from "./drive-example.ts";

driveExample({
  name: "next",
  isBuilt: true,
  server: (port) => ["node_modules/next/dist/bin/next", "start", "--port", String(port)],
  file: { name: "größe.png", mimeType: "image/png", sizeBytes: 300_000 },
  hasComponents: true,
});
