import { after, before, test } from "node:test";
import { createLoginLink } from "../../../server/src/projects/accounts/accounts.ts";
import { createPerson, password } from "../../../server/test/support/console-people.ts";
import { addAuthenticator } from "../support/authenticator.ts";
import { expectGoodLookInEveryView, phone } from "../support/good-look.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { currentCode, enterPassword } from "../support/sign-in.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("every step of signing in is accessible and fits a phone", async () => {
  const { app } = dashboard;
  const { deps } = app.app;
  const { email } = await createPerson(app, "somebody.with.a.long.name@subdomain.example.com");
  const { page, context } = await dashboard.open(null, { viewport: phone });
  await addAuthenticator(page);
  const dashboardUrl = `${app.url.replace("127.0.0.1", "localhost")}/dashboard`;

  const { link } = await createLoginLink(deps, app.owner.email);
  await page.goto(`${dashboardUrl}/claim#${link.split("#")[1]}`);
  await page.getByText("You own this installation.").waitFor();
  await expectGoodLookInEveryView(page, "the owner's link");

  await page.goto(dashboardUrl);
  await enterPassword(page, email, "not this one");
  await page.getByText("Incorrect email address or password.").waitFor();
  await expectGoodLookInEveryView(page, "a wrong password");
  await enterPassword(page, email);
  await page.getByText("You have no projects yet").waitFor();
  await expectGoodLookInEveryView(page, "no project");

  await page.goto(`${dashboardUrl}/account`);
  await page.getByRole("button", { name: "Turn on one-time codes" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Current password").fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  const secret = ((await dialog.locator("code").textContent()) ?? "").replaceAll(" ", "");
  await dialog.getByLabel("Code from the app").fill("000000");
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await dialog.getByText("Code is wrong").waitFor();
  await expectGoodLookInEveryView(page, "the key of one-time codes and a wrong code");
  await dialog.getByLabel("Code from the app").fill(currentCode(app, secret));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await dialog.getByRole("heading", { name: "Recovery codes" }).waitFor();
  await expectGoodLookInEveryView(page, "recovery codes");
  await dialog.getByRole("button", { name: "I have saved them" }).click();

  await page.getByRole("button", { name: "Add a passkey" }).click();
  await dialog.getByLabel("Name").fill("a laptop with a name that is longer than the width of a phone");
  await dialog.getByLabel("Current password").fill(password);
  await expectGoodLookInEveryView(page, "the dialog of a new passkey");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.getByText("never used").waitFor();
  await expectGoodLookInEveryView(page, "the account with sessions, codes and a passkey");
  await page.getByRole("button", { name: "Remove a laptop" }).click();
  await expectGoodLookInEveryView(page, "the dialog that removes a passkey");

  await context.clearCookies();
  await page.goto(dashboardUrl);
  await enterPassword(page, email);
  await page.getByLabel("One-time code").waitFor();
  await expectGoodLookInEveryView(page, "the step that asks for a code");
  await context.close();
});
