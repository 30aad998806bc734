import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { slowTest } from "../../../../test/support/quick-run.ts";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";

const password = "correct horse battery";
let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("somebody is invited by link, makes an account with it, gets another role and is removed", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const owner = await dashboard.open(tenant.accountId);
  await owner.page.goto(`${app.url}/dashboard`);
  await goToPage(owner.page, "Members");
  await owner.page.getByText("No open invitations").waitFor();
  await owner.page.getByRole("button", { name: "Invite member" }).click();
  const dialog = owner.page.getByRole("dialog");
  await dialog.getByLabel("Email address").fill("Guest@Example.com");
  await dialog.getByLabel("Role").selectOption("viewer");
  await dialog.getByRole("button", { name: "Create invite link" }).click();
  const link = (await dialog.locator("output").textContent()) ?? "";
  await owner.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await owner.page.getByLabel("Invitations").getByText("guest@example.com", { exact: true }).waitFor();
  const token = link.split("#")[1] ?? "";
  assert.ok(token.length > 40 && !(await owner.page.content()).includes(token));

  const guest = await dashboard.open(null);
  await guest.page.goto(`${app.url}/dashboard/join#${token}`);
  await guest.page.getByRole("heading", { name: "Join tenant" }).waitFor();
  await guest.page.getByLabel("Password").fill(password);
  await guest.page.getByRole("button", { name: "Join" }).click();
  await guest.page.waitForURL(`${app.url}/dashboard/${tenant.projectId}/live/overview`);
  await goToPage(guest.page, "Members");
  assert.equal(await guest.page.getByRole("button", { name: "Invite member" }).count(), 0);
  assert.equal(await guest.page.getByRole("button", { name: "Remove" }).count(), 0);

  await owner.page.reload();
  await owner.page.getByText("No open invitations").waitFor();
  const row = owner.page.getByLabel("Members", { exact: true }).getByRole("listitem");
  await row.filter({ hasText: "guest@example.com" }).getByText("unverified", { exact: true }).waitFor();
  assert.equal(await row.filter({ hasText: tenant.email }).getByText("unverified").count(), 0);
  await owner.page.getByLabel("Role of guest@example.com").selectOption("owner");
  await guest.page.reload();
  await guest.page.getByRole("button", { name: "Invite member" }).waitFor();
  await owner.page.getByRole("button", { name: "Remove guest@example.com" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await owner.page.getByRole("button", { name: "Remove guest@example.com" }).waitFor({ state: "detached" });
  await guest.page.reload();
  await guest.page.getByText("You have no projects yet").waitFor();
  await guest.page.getByText("It can own projects once the operator sets its tier.").waitFor();
  assert.equal(await guest.page.getByLabel("Name").count(), 0);

  const admin = await dashboard.open(app.owner.accountId);
  await admin.page.goto(`${app.url}/dashboard/admin`);
  const account = admin.page.getByRole("row").filter({ hasText: "guest@example.com" });
  await account.getByText("unverified", { exact: true }).waitFor();
  await account.getByText("Cannot own projects").waitFor();
  await account.getByRole("button", { name: "Edit" }).click();
  await admin.page.getByText("Once you save a tier, it can own projects.").waitFor();
  await admin.page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await account.getByText("Cannot own projects").waitFor({ state: "detached" });
  await admin.context.close();
  await guest.page.reload();
  await guest.page.getByLabel("Name").waitFor();

  await guest.page.goto("about:blank");
  await guest.page.goto(`${app.url}/dashboard/join#${token}`);
  await guest.page.getByText("This invitation was already used").waitFor();
  await owner.context.close();
  await guest.context.close();
});

test("who is signed in joins with one press, by keyboard, and only with an invitation of their own", async () => {
  const { app } = dashboard;
  const { signInAs } = await import("../../../server/test/support/console-client.ts");
  const [host, one, other] = [
    await app.createTenant("pro"),
    await app.createTenant("free"),
    await app.createTenant("free"),
  ];
  const invite = async (email: string) => {
    const owner = await signInAs(app, host.accountId);
    const path = `/projects/${host.projectId}/invitations`;
    return (await owner("POST", path, { email, role: "developer" })).body.link.split("#")[1];
  };
  const { page, context } = await dashboard.open(one.accountId);
  await page.goto(`${app.url}/dashboard/join#${await invite(other.email)}`);
  await page.getByText(`This invitation is for ${other.email}. You are signed in as ${one.email}.`).waitFor();
  await page.goto("about:blank");
  await page.goto(`${app.url}/dashboard/join#${await invite(one.email)}`);
  await page.getByRole("button", { name: "Join" }).focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Project", { exact: true }).waitFor();
  await page.waitForURL(`**/${host.projectId}/live/overview`);
  await goToPage(page, "Members");
  await page.getByRole("button", { name: `Leave ${one.email}` }).focus();
  await page.keyboard.press("Enter");
  const leave = page.getByRole("dialog").getByRole("button", { name: "Leave" });
  await leave.focus();
  await page.keyboard.press("Enter");
  await until(async () => (await page.locator("select[aria-label=Project] option").count()) === 2);
  await context.close();
});

slowTest("members that cannot be loaded say why and can be tried again", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.route("**/members", (route) => route.abort());
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Members");
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/members");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("Members").getByText(tenant.email).waitFor();
  await context.close();
});

slowTest("an owner who takes a lesser role is offered no more than it may do", async () => {
  const { app } = dashboard;
  const { projectId } = await app.createTenant("pro");
  const { accountId } = await app.createTenant("pro");
  const { db, now } = app.app.deps;
  await db.run(putMember, { projectId, accountId, role: "owner", now: now() });
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/${projectId}/live/members`);
  const invite = page.getByRole("button", { name: "Invite member" });
  await invite.waitFor();
  await page.getByLabel("Role of").selectOption("viewer");
  await invite.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "File routes", exact: true }).click();
  await page.getByRole("listitem").filter({ hasText: "default" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Create route" }).count(), 0);
  await context.close();
});
