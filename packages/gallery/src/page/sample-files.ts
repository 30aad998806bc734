const scenes = [
  { name: "beach-at-dusk.jpg", sky: ["#f97316", "#fde68a"], ground: "#1e3a8a" },
  { name: "forest-morning.jpg", sky: ["#a7f3d0", "#ecfeff"], ground: "#166534" },
  {
    name: "a-rather-long-name-for-a-picture-of-the-desert-2026.jpg",
    sky: ["#fca5a5", "#fef3c7"],
    ground: "#b45309",
  },
] as const;

/** Generated images and a text, so that visitors can try a component without their own files. */
export async function createSampleFiles(): Promise<File[]> {
  const pictures = await Promise.all(scenes.map(drawScene));
  const text = "Upload me.\n".repeat(2_500);
  return [
    ...pictures,
    new File([text], "notes.txt", { type: "text/plain", lastModified: Date.now() - 86_400_000 }),
  ];
}

/** The first of them, as if it were stored. */
export async function createSampleImage(): Promise<string> {
  return URL.createObjectURL(await drawScene(scenes[0], 0));
}

async function drawScene({ name, sky, ground }: (typeof scenes)[number], index: number): Promise<File> {
  const canvas = document.createElement("canvas");
  canvas.width = 900;
  canvas.height = 600;
  const pen = canvas.getContext("2d");
  if (pen === null) throw new Error("This browser does not support canvas.");
  const gradient = pen.createLinearGradient(0, 0, 0, 420);
  gradient.addColorStop(0, sky[0]);
  gradient.addColorStop(1, sky[1]);
  pen.fillStyle = gradient;
  pen.fillRect(0, 0, 900, 600);
  pen.fillStyle = "#fffbeb";
  pen.beginPath();
  pen.arc(250 + index * 200, 250, 70, 0, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = ground;
  pen.beginPath();
  pen.moveTo(0, 430);
  pen.bezierCurveTo(250, 350, 550, 480, 900, 390);
  pen.lineTo(900, 600);
  pen.lineTo(0, 600);
  pen.fill();
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.9));
  return new File([blob ?? ""], name, {
    type: "image/jpeg",
    lastModified: Date.now() - index * 2 * 86_400_000,
  });
}
