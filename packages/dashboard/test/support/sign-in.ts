import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { signInAs } from "../../../server/test/support/console-client.ts";
import { password } from "../../../server/test/support/console-people.ts";
import type { TestApp } from "../../../server/test/support/start-app.ts";

export async function enterPassword(page: Page, email: string, given = password): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(given);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** What an authenticator app with this key shows. */
export const currentCode = (app: TestApp, secret: string) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.now() });

export async function turnOnCodes(app: TestApp, accountId: string, currentPassword: string): Promise<void> {
  const call = await signInAs(app, accountId);
  const { secret } = (await call("POST", "/account/codes", { currentPassword })).body;
  const { status } = await call("POST", "/account/codes/confirm", { code: currentCode(app, secret) });
  if (status !== 200) throw new Error("one-time codes could not be turned on");
}
