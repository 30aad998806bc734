import type { Page } from "playwright-core";
import { createLoginLink } from "../../../server/src/projects/accounts/accounts.ts";
import { signInAs } from "../../../server/test/support/console-client.ts";
import { createPerson, password } from "../../../server/test/support/console-people.ts";
import { claimInstallation } from "../../../site/test/support/claim.ts";
import { addAuthenticator } from "../support/authenticator.ts";
import { enterPassword, turnOnCodes } from "../support/sign-in.ts";
import type { Scene } from "./scene.ts";
import { cutOff, inTurn, press, type Shots, see } from "./shot.ts";

/** What people see before they are in: the owner's link, signing in, invitations, an ended session. */
export async function* entryShots(scene: Scene): Shots {
  yield* claimShots(scene);
  yield* signInShots(scene);
  yield* joinShots(scene);
  yield* endedShots(scene);
}

async function* claimShots({ app }: Scene): Shots {
  yield { name: "sign-in-unclaimed", path: "", as: null };
  yield { name: "claim", path: `/claim#${app.app.firstStart?.loginToken}`, as: null };
  await claimInstallation(app);
  yield { name: "claim-used", path: "/claim#used", as: null };
  const { email } = await createPerson(app, "returning@example.com");
  const { link } = await createLoginLink(app.app.deps, email);
  yield { name: "claim-known", path: `/claim#${link.split("#")[1]}`, as: null };
}

async function* signInShots({ app }: Scene): Shots {
  yield { name: "sign-in", path: "", as: null };
  yield { name: "sign-in-passkey", path: "", as: null, isOnLocalhost: true };
  const { accountId, email } = await createPerson(app, "with.codes@example.com");
  const wrong = (page: Page) => enterPassword(page, email, "not this one");
  yield {
    name: "sign-in-wrong",
    path: "",
    as: null,
    isOnLocalhost: true,
    prepare: inTurn(wrong, see("Incorrect email address or password.")),
  };
  yield {
    name: "sign-in-passkey-failed",
    path: "",
    as: null,
    isOnLocalhost: true,
    async prepare(page) {
      const { cdp, id: authenticatorId } = await addAuthenticator(page);
      await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
      await press("Use a passkey")(page);
      await see("The passkey request was cancelled or failed.")(page);
    },
  };
  yield {
    name: "sign-in-offline",
    path: "",
    as: null,
    prepare: inTurn(cutOff("**/sign-in"), wrong, see("reached")),
  };
  await turnOnCodes(app, accountId, password);
  const enter = (page: Page) => enterPassword(page, email);
  yield { name: "sign-in-code", path: "", as: null, prepare: inTurn(enter, see("One-time code")) };
  yield {
    name: "sign-in-code-wrong",
    path: "",
    as: null,
    async prepare(page) {
      await enter(page);
      await page.getByLabel("One-time code").fill("000000");
      await press("Continue")(page);
      await see("This code is wrong")(page);
    },
  };
}

async function* joinShots({ app, full }: Scene): Shots {
  const owner = await signInAs(app, full.accountId);
  const members = `/projects/${full.projectId}`;
  const invite = async (email: string): Promise<string> => {
    const body = { email, role: "developer" };
    return (await owner("POST", `${members}/invitations`, body)).body.link.split("#")[1];
  };
  yield { name: "join", path: `/join#${await invite("new.colleague@example.com")}`, as: null };
  yield { name: "join-used", path: "/join#used", as: null };
  const { accountId, email } = await createPerson(app, "colleague@example.com");
  yield { name: "join-own", path: `/join#${await invite(email)}`, as: accountId };
  yield { name: "join-other", path: `/join#${await invite("somebody.else@example.com")}`, as: accountId };
  yield { name: "projects-none", path: "", as: accountId };

  // An account that only an invitation made, after the project was left.
  const guest = "guest@example.com";
  const token = await invite(guest);
  const headers = { origin: app.url };
  const body = { token, password };
  const joined = await app.call("POST", "/dashboard/api/invitations/sign-up", { body, headers });
  const cookie = joined.headers.get("set-cookie")?.split(";")[0] ?? "";
  const taken = { body: { token }, headers: { ...headers, cookie } };
  await app.call("POST", "/dashboard/api/invitations/accept", taken);
  const { members: all } = (await owner("GET", `${members}/members`)).body;
  const guestId: string = all.find((member: { email: string }) => member.email === guest).accountId;
  await owner("DELETE", `${members}/members/${guestId}`);
  yield { name: "projects-none-guest", path: "", as: guestId };
}

async function* endedShots({ app, full, viewerId }: Scene): Shots {
  const inFull = `/${full.projectId}/live`;
  const { accountId } = await createPerson(app, "absent@example.com");
  yield {
    name: "dashboard-offline",
    path: "",
    as: accountId,
    prepare: inTurn(cutOff("**/api/session"), (page) => page.reload(), see("The server cannot be reached.")),
  };
  // The last one of this account: its browser is signed out.
  yield {
    name: "session-ended",
    path: `${inFull}/files`,
    as: viewerId,
    prepare: inTurn(
      (page) => page.context().clearCookies(),
      (page) => page.getByRole("link", { name: "Logs", exact: true }).click(),
      (page) => page.getByRole("heading", { name: "Sign in" }).waitFor(),
    ),
  };
}
