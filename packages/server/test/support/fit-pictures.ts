import sharp from "sharp";
import { fitModes } from "../../src/serving/images/recipe.ts";
import { startApp, type TestApp } from "./start-app.ts";
import { uploadFile } from "./upload.ts";

/** Its edges have colours of their own, so that one sees what was cut off; the sun shows that nothing is squeezed. */
function drawScene(width: number, height: number): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 600 360">
    <defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#f97316"/><stop offset="1" stop-color="#fde68a"/></linearGradient></defs>
    <rect width="600" height="360" fill="url(#sky)"/>
    <circle cx="300" cy="170" r="70" fill="#fffbeb"/>
    <path d="M0 260 C170 200 380 300 600 230 V360 H0 Z" fill="#1e3a8a"/>
    <rect width="16" height="360" fill="#16a34a"/><rect x="584" width="16" height="360" fill="#dc2626"/>
    <rect width="600" height="10" fill="#0f172a"/><rect y="350" width="600" height="10" fill="#0f172a"/>
  </svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

/** The pictures of docs/guides/images.md by file name, each one an answer of the service. */
export async function makeFitPictures(): Promise<Map<string, Buffer>> {
  const app = await startApp({ database: "sqlite" });
  try {
    const { live } = await app.createTenant("pro");
    const pictures = new Map<string, Buffer>();
    for (const [source, width, height] of [
      ["large", 600, 360],
      ["small", 120, 72],
    ] as const) {
      const bytes = await drawScene(width, height);
      const { key } = await uploadFile(app, bytes, { key: live, name: "scene.png", type: "image/png" });
      const ask = (shape: object) => getVariant(app, live, { key, ...shape });
      if (source === "large") pictures.set("fit-source.webp", await ask({ width }));
      for (const fit of fitModes) {
        pictures.set(`fit-${fit}-${source}.webp`, await ask({ width: 200, height: 200, fit }));
      }
    }
    return pictures;
  } finally {
    await app.close();
  }
}

async function getVariant(app: TestApp, key: string, wanted: object): Promise<Buffer> {
  const body = { format: "webp", quality: 70, delivery: "public", ...wanted };
  const { url } = (await app.call("POST", "transforms/image", { key, body })).body;
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}
