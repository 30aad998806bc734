import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { slowTest } from "../../../../test/support/quick-run.ts";
import { listTrail } from "../../../server/test/support/audit-trail.ts";
import { createPerson, password } from "../../../server/test/support/console-people.ts";
import { claimInstallation } from "../../../site/test/support/claim.ts";
import { addAuthenticator } from "../support/authenticator.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { currentCode, enterPassword } from "../support/sign-in.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

async function signOut(page: Page, email: string): Promise<void> {
  await page.getByRole("link", { name: email }).click();
  const own = page.getByRole("listitem").filter({ hasText: "This browser" });
  await own.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

const codeFor = (secret: string) => currentCode(dashboard.app, secret);

test("e-mail address and password are changed, all other sessions end, and the page shows both", async () => {
  const { app } = dashboard;
  const { accountId, email } = await createPerson(app);
  const other = await dashboard.open(accountId);
  await other.page.goto(`${app.url}/dashboard`);
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/account`);
  const sessions = page.getByRole("button", { name: "Sign out" });
  await sessions.nth(1).waitFor();
  await page.getByLabel("Email address").fill(`new-${email}`);
  await page.getByLabel("Current password").fill("not this one");
  await page.getByLabel("New password").fill("another horse battery");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The current password is incorrect.").waitFor();
  await page.getByLabel("Current password").fill(password);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. All other sessions were ended.").waitFor();
  await page.getByRole("link", { name: `new-${email}` }).waitFor();
  await sessions.nth(1).waitFor({ state: "detached" });
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Current password").fill("another horse battery");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: email, exact: true }).waitFor();
  await other.page.reload();
  await other.page.getByRole("heading", { name: "Sign in" }).waitFor();
  await other.context.close();
  await context.close();
});

test("one-time codes are turned on, asked for, replaced by a recovery code and turned off", async () => {
  const { app } = dashboard;
  const { accountId, email } = await createPerson(dashboard.app);
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/account`);
  await page.getByRole("button", { name: "Turn on one-time codes" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Current password").fill("not this one");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("The current password is incorrect.").waitFor();
  await dialog.getByLabel("Current password").fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("img", { name: "QR code of the key" }).waitFor();
  const secret = ((await dialog.locator("code").textContent()) ?? "").replaceAll(" ", "");
  await dialog.getByLabel("Code from the app").fill(codeFor(secret));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  const recovery = ((await dialog.locator("output").textContent()) ?? "").split("\n");
  assert.equal(recovery.length, 10);
  await dialog.getByRole("button", { name: "I have saved them" }).click();
  await page.getByText("10 recovery codes left").waitFor();
  await expectNothingKept(page, [secret, ...recovery]);

  await signOut(page, email);
  await enterPassword(page, email);
  await page.getByLabel("One-time code").fill("000000");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("This code is wrong or was already used.").waitFor();
  await page.getByLabel("One-time code").fill(recovery[0] ?? "");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: email }).click();
  await page.getByText("9 recovery codes left").waitFor();

  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("dialog").getByLabel("Current password").fill(password);
  await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("button", { name: "Turn on one-time codes" }).waitFor();
  await context.close();
});

test("a passkey is added, lets its owner in, and no longer does when it was removed", async () => {
  const { email } = await createPerson(dashboard.app);
  const { page, context } = await dashboard.open(null);
  const { cdp, id: authenticatorId } = await addAuthenticator(page);
  await page.goto(`${dashboard.app.url.replace("127.0.0.1", "localhost")}/dashboard`);
  await enterPassword(page, email);
  await page.getByRole("link", { name: email }).click();
  await page.getByText("No passkeys yet").waitFor();
  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("my laptop");
  await dialog.getByLabel("Current password").fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "my laptop" });
  await row.getByText("never used").waitFor();

  await signOut(page, email);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByRole("link", { name: email }).click();
  await row.getByText("used just now").waitFor();

  await row.getByRole("button", { name: "Remove" }).click();
  await dialog.getByLabel("Current password").fill(password);
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText("No passkeys yet").waitFor();
  await signOut(page, email);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("This passkey was rejected.").waitFor();

  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("The passkey request was cancelled or failed.").waitFor();
  const trail = (await listTrail(dashboard.app)).filter((entry) => entry.author_name === email);
  assert.deepEqual(
    trail.map(({ action, changes }) => [action, changes]),
    [
      ["session.created", '{"method":{"to":"password"}}'],
      ["passkey.added", '{"name":{"to":"my laptop"}}'],
      ["session.ended", "{}"],
      ["session.created", '{"method":{"to":"passkey"}}'],
      ["passkey.removed", '{"name":{"from":"my laptop"}}'],
      ["session.ended", "{}"],
    ],
  );
  await context.close();
});

slowTest(
  "a new password offers to remove passkeys, and those that are chosen let nobody in any more",
  async () => {
    const { email } = await createPerson(dashboard.app);
    const { page, context } = await dashboard.open(null);
    await addAuthenticator(page);
    await page.goto(`${dashboard.app.url.replace("127.0.0.1", "localhost")}/dashboard`);
    await enterPassword(page, email);
    await page.getByRole("link", { name: email }).click();
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("not mine");
    await page.getByRole("dialog").getByLabel("Current password").fill(password);
    await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
    await page.getByText("never used").waitFor();
    const offer = page.getByRole("group", { name: "Also remove passkeys" });
    assert.equal(await offer.count(), 0);
    await page.getByLabel("New password").fill("another horse battery");
    await offer.getByRole("checkbox", { name: "not mine" }).check();
    await page.getByLabel("Current password").fill(password);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. All other sessions were ended.").waitFor();
    await page.getByText("No passkeys yet").waitFor();
    await signOut(page, email);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByText("This passkey was rejected.").waitFor();
    await context.close();
  },
);

slowTest("an answer to a challenge is taken once, and a copied passkey is noticed", async () => {
  const { email } = await createPerson(dashboard.app);
  const { page, context } = await dashboard.open(null);
  const { cdp, id: authenticatorId } = await addAuthenticator(page);
  await page.goto(`${dashboard.app.url.replace("127.0.0.1", "localhost")}/dashboard`);
  await enterPassword(page, email);
  await page.getByRole("link", { name: email }).click();
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("key");
  await page.getByRole("dialog").getByLabel("Current password").fill(password);
  await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
  await page.getByText("never used").waitFor();
  const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
  const [copy] = credentials;
  assert.ok(copy !== undefined);

  await signOut(page, email);
  const sent = page.waitForRequest((request) => request.url().endsWith("/sign-in/passkey"));
  await page.getByRole("button", { name: "Use a passkey" }).click();
  const body = (await sent).postData();
  await page.getByRole("link", { name: email }).waitFor();
  const replay = `fetch("/dashboard/api/sign-in/passkey", { method: "POST", body: ${JSON.stringify(body)},
    headers: { "content-type": "application/json" } }).then((answer) => answer.status)`;
  assert.equal(await page.evaluate(replay), 403);

  await signOut(page, email);
  await cdp.send("WebAuthn.removeCredential", { authenticatorId, credentialId: copy.credentialId });
  await cdp.send("WebAuthn.addCredential", { authenticatorId, credential: { ...copy, signCount: 0 } });
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("This passkey was rejected.").waitFor();
  await context.close();
});

test("a link that was used says so, and one of the operator knows whose it is", async () => {
  const { app } = dashboard;
  const { page, context } = await dashboard.open(null);
  await page.goto(`${app.url}/dashboard/claim#used-before`);
  await page.getByText("This link was already used, or is older than 24 hours.").waitFor();
  await page.locator("code", { hasText: /^upstow account login-link$/ }).waitFor();
  await page.getByText("upstow account login-link").waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  const { createLoginLink } = await import("../../../server/src/projects/accounts/accounts.ts");
  const { email } = await createPerson(dashboard.app);
  const { link } = await createLoginLink(app.app.deps, email);
  await page.goto(`${app.url}/dashboard/claim#${link.split("#")[1]}`);
  await page.locator("input[type=email]").waitFor({ state: "attached" });
  assert.equal(await page.getByLabel("Email address").inputValue(), email);
  await page.getByLabel("Password").fill("another good password");
  await page.getByRole("button", { name: "Open the dashboard" }).click();
  await page.getByText("You have no projects yet").waitFor();
  await context.close();
});

slowTest("other sessions are listed and ended", async () => {
  const { app } = dashboard;
  const { accountId } = await createPerson(dashboard.app);
  const { page, context } = await dashboard.open(accountId);
  const other = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/account`);
  await other.page.goto(`${app.url}/dashboard/account`);
  const rows = page.getByRole("listitem").filter({ hasText: "Sign out" });
  await rows.nth(1).waitFor();
  await rows.filter({ hasNotText: "This browser" }).getByRole("button", { name: "Sign out" }).click();
  await rows.nth(1).waitFor({ state: "detached" });
  await other.page.reload();
  await other.page.getByRole("heading", { name: "Sign in" }).waitFor();
  await context.close();
  await other.context.close();
});

/** What is shown once is in neither the page, its storage nor the service's log afterwards. */
async function expectNothingKept(page: Page, secrets: string[]): Promise<void> {
  const stored = await page.evaluate(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie])",
  );
  const seen = (await page.content()) + String(stored) + dashboard.app.logLines.join("");
  for (const secret of secrets) assert.ok(!seen.includes(secret));
}

test("before anybody has claimed the installation, the sign-in page says how to", async () => {
  // Nobody has claimed this one: sessions of the other tests are made without passwords.
  const { app } = dashboard;
  const { page, context } = await dashboard.open(null);
  await page.goto(`${app.url}/dashboard`);
  await page.getByText("This installation has no owner yet.").waitFor();
  await claimInstallation(app);
  await page.reload();
  await page.getByText("No password yet?").waitFor();
  assert.equal(await page.getByText("no owner yet").count(), 0);
  await context.close();
});
