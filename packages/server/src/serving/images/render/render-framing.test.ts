import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { gravities } from "../recipe.ts";
import { cutAround, renderImage } from "./render-image.ts";
import type { RenderOrder } from "./render-job.ts";

// Runs in this process, with pictures of our own.

const colours = { r: [255, 0, 0], g: [0, 255, 0], b: [0, 0, 255], w: [255, 255, 255] } as const;
type Colour = keyof typeof colours;

/** Fields of 40 pixels. */
const draw = (rows: string[]) =>
  sharp(Buffer.from(rows.flatMap((row) => [...row].flatMap((letter) => colours[letter as Colour]))), {
    raw: { width: rows[0]?.length ?? 0, height: rows.length, channels: 3 },
  }).resize((rows[0]?.length ?? 0) * 40, rows.length * 40, { kernel: "nearest", fit: "fill" });

const order = { fit: "cover", quality: 100, format: "png" } as const;

/** The colours of a result in a grid, by letter; anything between two of them is a dot. */
async function look(bytes: Buffer, asked: RenderOrder, columns: number, rows: number): Promise<string[]> {
  const result = await renderImage(bytes, asked);
  assert.ok(result.ok, JSON.stringify(result));
  const { data, info } = await sharp(result.bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const letterAt = (column: number, row: number) => {
    const x = Math.floor(((column + 0.5) * info.width) / columns);
    const y = Math.floor(((row + 0.5) * info.height) / rows);
    const at = (y * info.width + x) * info.channels;
    const near = Object.entries(colours).find(([, rgb]) =>
      rgb.every((value, i) => Math.abs((data[at + i] ?? -1) - value) < 40),
    );
    return near?.[0] ?? ".";
  };
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => letterAt(column, row)).join(""),
  );
}

const sides = await draw(["rgb", "gwg", "bgr"]).png().toBuffer();
const wide = await draw(["rgb"]).png().toBuffer();
const corner = await draw(["rg", "bw"]).png().toBuffer();

test("turns by quarters clockwise, after the EXIF orientation and before it resizes", async () => {
  const exif = await sharp(corner).withMetadata({ orientation: 6 }).jpeg({ quality: 100 }).toBuffer();
  const asked = { ...order, width: 40 };
  assert.deepEqual(await look(corner, asked, 2, 2), ["rg", "bw"]);
  assert.deepEqual(await look(corner, { ...asked, rotate: 90 }, 2, 2), ["br", "wg"]);
  assert.deepEqual(await look(corner, { ...asked, rotate: 180 }, 2, 2), ["wb", "gr"]);
  assert.deepEqual(await look(corner, { ...asked, rotate: 270 }, 2, 2), ["gw", "rb"]);
  assert.deepEqual(await look(exif, asked, 2, 2), ["br", "wg"]);
  assert.deepEqual(await look(exif, { ...asked, rotate: 90 }, 2, 2), ["wb", "gr"]);
  const turned = await renderImage(wide, { ...order, fit: "scale-down", height: 60, rotate: 90 });
  assert.ok(turned.ok);
  assert.deepEqual([turned.image.width, turned.image.height], [20, 60]);
});

test("keeps the side or corner that gravity names, with cover and crop", async () => {
  const seen = { n: "rgb", e: "bgr", s: "bgr", w: "rgb" } as const;
  for (const fit of ["cover", "crop"] as const) {
    for (const [gravity, line] of Object.entries(seen)) {
      const isRow = gravity === "n" || gravity === "s";
      const asked = { ...order, fit, ...(isRow ? { width: 30, height: 10 } : { width: 10, height: 30 }) };
      const grid = await look(sides, { ...asked, gravity: gravity as "n" }, isRow ? 3 : 1, isRow ? 1 : 3);
      assert.equal(grid.join(""), line, `${fit} ${gravity}`);
    }
    assert.deepEqual(await look(wide, { ...order, fit, width: 10, height: 10 }, 1, 1), ["g"]);
    for (const [gravity, colour] of [
      ["nw", "r"],
      ["w", "r"],
      ["sw", "r"],
      ["ne", "b"],
      ["e", "b"],
      ["se", "b"],
      ["n", "g"],
    ] as const)
      assert.deepEqual(await look(wide, { ...order, fit, width: 10, height: 10, gravity }, 1, 1), [colour]);
  }
});

test("cuts around the focus point, turned along with the image", async () => {
  const asked = { ...order, width: 10, height: 10, gravity: "focus" } as const;
  for (const [x, colour] of [
    [0, "r"],
    [0.5, "g"],
    [1, "b"],
  ] as const) {
    for (const rotate of [undefined, 90, 180, 270] as const) {
      const turned = rotate === undefined ? asked : { ...asked, rotate };
      assert.deepEqual(
        await look(wide, { ...turned, focus: { x, y: 0.5 } }, 1, 1),
        [colour],
        `${x} ${rotate}`,
      );
    }
  }
  for (const gravity of gravities) {
    const result = await renderImage(sides, { ...asked, gravity });
    assert.ok(result.ok && result.image.width === 10 && result.image.height === 10, gravity);
  }
});

test("never cuts outside the source, whatever its size and the point", () => {
  for (const width of [1, 2, 7, 4096])
    for (const height of [1, 3, 2000])
      for (const size of [
        { width: 1, height: 4096 },
        { width: 333, height: 10 },
      ])
        for (const x of [0, 0.001, 0.5, 1]) {
          const cut = cutAround({ width, height }, size, { x, y: 1 - x });
          assert.ok(cut.left >= 0 && cut.top >= 0 && cut.width >= 1 && cut.height >= 1);
          assert.ok(cut.left + cut.width <= width && cut.top + cut.height <= height);
        }
});

test("puts the image to the named side of its padding, and the colour behind it", async () => {
  const asked = { ...order, fit: "pad", width: 90, height: 30, background: "ffffff" } as const;
  const green = await draw(["g"]).png().toBuffer();
  assert.deepEqual(await look(green, asked, 3, 1), ["wgw"]);
  assert.deepEqual(await look(green, { ...asked, gravity: "w" }, 3, 1), ["gww"]);
  assert.deepEqual(await look(green, { ...asked, gravity: "e", format: "jpeg" }, 3, 1), ["wwg"]);
  assert.deepEqual(await look(green, { ...asked, gravity: "attention", background: "0000ff" }, 3, 1), [
    "bgb",
  ]);
  const clear = await sharp({ create: { width: 9, height: 9, channels: 4, background: "#0000" } })
    .png()
    .toBuffer();
  for (const format of ["jpeg", "webp", "png", "avif"] as const)
    assert.deepEqual(await look(clear, { ...order, width: 9, format, background: "ff0000" }, 1, 1), ["r"]);
});

test("blurs edges away, and keeps an animation whole or shows its first frame", async () => {
  const sharpEdge = await look(wide, { ...order, fit: "contain", width: 120 }, 12, 1);
  assert.equal(sharpEdge.join(""), "rrrrggggbbbb");
  const soft = await look(wide, { ...order, fit: "contain", width: 120, blur: 30 }, 12, 1);
  assert.ok((soft[0]?.match(/\./g)?.length ?? 0) >= 6, soft.join());
  const frames = await Promise.all(
    ["r", "b"].map((letter) =>
      draw([letter + letter])
        .png()
        .toBuffer(),
    ),
  );
  const gif = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
  const pagesOf = async (asked: Partial<RenderOrder>) => {
    const result = await renderImage(gif, { ...order, format: "webp", width: 8, height: 8, ...asked });
    assert.ok(result.ok);
    return (await sharp(result.bytes).metadata()).pages ?? 1;
  };
  for (const asked of [
    {},
    { gravity: "attention" },
    { gravity: "se" },
    { gravity: "focus", focus: { x: 0, y: 1 } },
    { background: "ffffff" },
  ] as const)
    assert.equal(await pagesOf(asked), 2, JSON.stringify(asked));
  for (const asked of [{ blur: 2 }, { rotate: 90 }] as const)
    assert.equal(await pagesOf(asked), 1, JSON.stringify(asked));
});
