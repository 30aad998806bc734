import { signInAs } from "../../../server/test/support/console-client.ts";
import { createPerson, password } from "../../../server/test/support/console-people.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { addAuthenticator } from "../support/authenticator.ts";
import { enterPassword } from "../support/sign-in.ts";
import type { Scene } from "./scene.ts";
import { inTurn, press, pressInDialog, type Shots, see } from "./shot.ts";

/** Members, accounts and the installation. */
export async function* peopleShots(scene: Scene): Shots {
  yield* memberShots(scene);
  yield* accountShots(scene);
  yield* adminShots(scene);
}

async function* memberShots({ full, viewerId }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/live/members`;
  yield { name: "members", path, as, isTall: true };
  yield { name: "members-viewer", path, as: viewerId };
  yield { name: "invite", path, as, prepare: press("Invite member") };
  yield {
    name: "invite-created",
    path,
    as,
    async prepare(page) {
      await press("Invite member")(page);
      await page.getByRole("dialog").getByLabel("Email address").fill("lin@example.com");
      await pressInDialog(page, "Create invite link");
      await see("Send this link")(page);
    },
  };
  yield { name: "remove-member", path, as, prepare: press(/^Remove/) };
}

async function* accountShots({ app, full }: Scene): Shots {
  const as = full.accountId;
  yield { name: "account", path: "/account", as, isTall: true };
  yield { name: "activity", path: "/activity", as };

  const { accountId, email } = await createPerson(app, "kim@example.com");
  const call = await signInAs(app, accountId);
  const { project } = (await call("POST", "/projects", { name: "Old website" })).body;
  const { secret: key } = (
    await call("POST", `/in/${project.id}/live/projects/${project.id}/keys`, { name: "k" })
  ).body;
  await uploadFile(app, "Left behind", { key });
  await call("DELETE", `/projects/${project.id}`);
  await call("POST", "/projects", { name: "New website" });

  const own = { path: "/account", as: accountId };
  const turnOn = press("Turn on one-time codes");
  yield { name: "codes-password", ...own, prepare: turnOn };
  const toKey = inTurn(
    turnOn,
    (page) => page.getByRole("dialog").getByLabel("Current password").fill(password),
    (page) => pressInDialog(page, "Continue"),
    see("Scan this"),
  );
  yield { name: "codes-key", ...own, prepare: toKey };
  yield {
    name: "codes-wrong",
    ...own,
    prepare: inTurn(
      toKey,
      (page) => page.getByLabel("Code from the app").fill("000000"),
      (page) => pressInDialog(page, "Turn on"),
      see("Code is wrong"),
    ),
  };
  yield { name: "purge-project", ...own, prepare: press(/^Purge/) };
  yield {
    name: "account-passkey",
    path: "",
    as: null,
    isOnLocalhost: true,
    isTall: true,
    async prepare(page) {
      await addAuthenticator(page);
      await enterPassword(page, email);
      await page.getByRole("link", { name: email }).click();
      await press("Add a passkey")(page);
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name").fill("Kim's laptop");
      await dialog.getByLabel("Current password").fill(password);
      await pressInDialog(page, "Continue");
      await see("never used")(page);
    },
  };
  yield { name: "remove-passkey", ...own, prepare: press(/^Remove/) };
}

async function* adminShots({ app: { owner } }: Scene): Shots {
  const admin = { path: "/admin", as: owner.accountId };
  yield { name: "admin", ...admin, isTall: true };
  yield { name: "admin-audit", ...admin, path: "/admin/audit" };
  yield { name: "create-account", ...admin, prepare: press("Create account") };
  yield {
    name: "account-created",
    ...admin,
    async prepare(page) {
      await press("Create account")(page);
      await page.getByRole("dialog").getByLabel("Email address").fill("noor@example.com");
      await pressInDialog(page, "Create account");
      await see("Send this link")(page);
    },
  };
  yield {
    name: "edit-account",
    ...admin,
    prepare: inTurn(press(/^Edit/), (page) => page.getByLabel("Tier").selectOption("enterprise")),
  };
}
