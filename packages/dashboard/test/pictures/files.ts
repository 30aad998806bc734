import type { Page } from "playwright-core";
import { uploadFile } from "../../../server/test/support/upload.ts";
import type { Scene } from "./scene.ts";
import { cutOff, inTurn, press, pressInDialog, type Shots, see, select } from "./shot.ts";

const upload = (name: string, type: string, bytes: Buffer) => ({ name, mimeType: type, buffer: bytes });

const openMenuItem = (name: string) =>
  inTurn(press("More ways to upload"), (page: Page) => page.getByRole("menuitem", { name }).click());

export async function* fileShots(scene: Scene): Shots {
  yield* listShots(scene);
  yield* uploadShots(scene);
  yield* panelShots(scene);
  yield* trashShots(scene);
  const { accountId: as, projectId } = scene.full;
  const path = `/${projectId}/live/files`;
  // The browser remembers it: after the states that are shown as a list.
  yield { name: "files-grid", path, as, prepare: press("Grid") };
  yield { name: "files-grid-selected", path, as, prepare: select(1, 2, 3) };
}

async function* listShots({ full, empty, viewerId }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/live/files`;
  yield { name: "files", path, as };
  yield { name: "files-empty", path: `/${empty.projectId}/test/files`, as: empty.accountId };
  yield { name: "files-viewer", path, as: viewerId };
  yield { name: "files-search", path: `${path}?name=harbour`, as };
  yield { name: "files-nothing", path: `${path}?name=nothing-like-this`, as };
  yield { name: "files-filters", path: `${path}?access=public&metadata=album%3Dspring`, as };
  yield { name: "files-folder", path: `${path}?routeSlug=avatars`, as };
  yield { name: "files-sorted", path: `${path}?sort=-size`, as };
  yield { name: "files-selected", path, as, prepare: select(1, 2) };
  yield {
    name: "files-all",
    path,
    as,
    prepare: inTurn(select(0), press("Select all that match"), see(/^All [0-9]/)),
  };
  for (const [name, button] of [
    ["metadata", "Metadata"],
    ["access", "Access"],
    ["expiry", "Expiry"],
  ] as const)
    yield { name: `files-${name}`, path, as, prepare: inTurn(select(1, 2), press(button)) };
  yield {
    name: "files-metadata-wrong",
    path,
    as,
    async prepare(page) {
      await inTurn(select(1, 2), press("Metadata"))(page);
      await page.getByLabel("Metadata (JSON)").fill('{"album": }');
      await pressInDialog(page, /^Change/);
      await see("This is not valid JSON.")(page);
    },
  };
  yield {
    name: "files-deleting",
    // They are deleted when the page is left: none of those that the next pictures show.
    path: `${path}?sort=date`,
    as,
    prepare: inTurn(select(1, 2), press("Delete 2"), see("Undo")),
  };
  yield {
    name: "files-offline",
    path,
    as,
    prepare: inTurn(cutOff("**/search?*"), (page) => page.reload(), see("The server cannot be reached.")),
  };
}

async function* uploadShots({ full }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/test/files`;
  yield {
    name: "files-uploads",
    path,
    as,
    async prepare(page) {
      const input = page.locator("input[type=file]").first();
      await input.setInputFiles([
        upload("harbour.txt", "text/plain", Buffer.from("Ships")),
        upload("empty.txt", "text/plain", Buffer.alloc(0)),
        upload(`${"minutes and appendices ".repeat(8)}.txt`, "text/plain", Buffer.from("Minutes")),
      ]);
      await see("2 of 3 uploaded")(page);
    },
  };
  yield {
    name: "files-drop",
    path,
    as,
    prepare: (page) =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["x"], "x.txt"));
        window.dispatchEvent(new DragEvent("dragenter", { dataTransfer }));
      })()`),
  };
  yield { name: "more-ways", path, as, prepare: press("More ways to upload") };
  yield { name: "upload-link", path, as, prepare: openMenuItem("Create upload link…") };
  yield {
    name: "upload-link-created",
    path,
    as,
    prepare: inTurn(
      openMenuItem("Create upload link…"),
      (page) => pressInDialog(page, "Create link"),
      see("Copy this link now"),
    ),
  };
  yield { name: "add-from-url", path, as, prepare: openMenuItem("Add from URL…") };
  yield {
    name: "add-from-url-refused",
    path,
    as,
    async prepare(page) {
      await openMenuItem("Add from URL…")(page);
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox").first().fill("https://169.254.169.254/latest/meta-data");
      await pressInDialog(page, "Add file");
      await dialog.getByRole("alert").waitFor();
    },
  };
}

async function* panelShots({ app, full, files, fileOf }: Scene): Shots {
  const as = full.accountId;
  const list = `/${full.projectId}/live/files`;
  const image = fileOf(".webp");
  const path = `${list}/${image.id}`;
  yield { name: "file", path, as };
  yield { name: "file-access", path, as, from: "Access" };
  yield { name: "file-timeline", path, as, from: "Timeline" };
  yield { name: "file-change-access", path, as, prepare: press("Change access") };
  yield { name: "file-expiry", path, as, prepare: press("Change expiry") };
  yield { name: "file-link", path, as, prepare: press("Create link") };
  yield {
    name: "file-link-created",
    path,
    as,
    prepare: inTurn(
      press("Create link"),
      (page) => pressInDialog(page, "Create link"),
      see("Copy this link now"),
    ),
  };
  yield { name: "file-revoke", path, as, prepare: press("Revoke all links") };
  yield { name: "file-pdf", path: `${list}/${fileOf(".pdf").id}`, as };
  yield { name: "file-audio", path: `${list}/${fileOf(".mp3").id}`, as };
  yield { name: "file-text", path: `${list}/${fileOf(".csv").id}`, as };
  yield { name: "file-bidi", path: `${list}/${files.find(({ name }) => name.includes("\u202e"))?.id}`, as };
  yield { name: "file-missing", path: `${list}/00000000-0000-7000-8000-000000000000`, as };

  const contract = { key: full.live, name: "signed-contract.pdf", type: "application/pdf" };
  const { id, key } = await uploadFile(app, "%PDF-1.4", contract);
  const body = { access: "private", audience: "customer:4711", expiresIn: 604_800 };
  await app.call("PATCH", `files/${id}`, { key: full.live, body });
  await app.call("POST", "files/links", { key: full.live, body: { keys: [key], maxUses: 5 } });
  yield { name: "file-private", path: `${list}/${id}`, as, from: "Access" };
}

async function* trashShots({ full, empty }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/live/trash`;
  yield { name: "trash", path, as };
  yield { name: "trash-selected", path, as, prepare: select(1) };
  yield { name: "trash-delete", path, as, prepare: inTurn(select(1), press(/^Delete/)) };
  yield { name: "trash-empty", path: `/${empty.projectId}/live/trash`, as: empty.accountId };
}
