// Takes every page and state of the dashboard with sample data, at five widths, in both themes:
//   npx node packages/dashboard/test/take-pictures.ts [folder] [name…]
// A name is that of a state, or what several begin with, such as "files" or "sign-in".
import { mkdir } from "node:fs/promises";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { Camera } from "./pictures/camera.ts";
import { entryShots } from "./pictures/entry.ts";
import { fileShots } from "./pictures/files.ts";
import { peopleShots } from "./pictures/people.ts";
import { projectShots } from "./pictures/project.ts";
import { setScene } from "./pictures/scene.ts";
import { startDashboard } from "./support/open-dashboard.ts";

const [folder = "pictures", ...wanted] = process.argv.slice(2);

const dashboard = await startDashboard();
await mkdir(folder, { recursive: true });
const scene = await setScene(dashboard.app);
const camera = new Camera(dashboard, folder);
for (const shots of [projectShots, fileShots, peopleShots, entryShots]) {
  for await (const shot of shots(scene)) {
    if (wanted.length > 0 && !wanted.some((start) => shot.name.startsWith(start))) continue;
    // The others are worth having.
    await camera.take(shot).catch((error: unknown) => {
      process.stderr.write(`${shot.name} could not be taken: ${error}\n`);
      process.exitCode = 1;
    });
  }
}
await dashboard.close();
await (await getBrowser()).close();
