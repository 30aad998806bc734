import { driveExample } from "./drive-example.ts";

driveExample({
  name: "vite-react",
  isBuilt: true,
  server: () => ["server.ts"],
  file: { name: "large.bin", mimeType: "application/octet-stream", sizeBytes: 12 * 1024 * 1024 },
});
