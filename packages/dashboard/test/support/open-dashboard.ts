import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { createSessionToken } from "../../../server/test/support/console-client.ts";
import { getBrowser } from "../../../server/test/support/shared-browser.ts";
import { startApp, type TestApp } from "../../../server/test/support/start-app.ts";

export const pageNames = [
  "Overview",
  "Files",
  "Image studio",
  "File routes",
  "Webhooks",
  "Logs",
  "Usage",
  "Members",
  "Audit log",
  "Settings",
];

export interface Dashboard {
  app: TestApp;
  /** A browser of its own, signed in as the account unless it is null. */
  open(
    accountId: string | null,
    options?: BrowserContextOptions,
  ): Promise<{ page: Page; context: BrowserContext }>;
  close(): Promise<void>;
}

export async function startDashboard(env: Record<string, string> = {}): Promise<Dashboard> {
  const app = await startApp({ database: "sqlite", env });
  const browser = await getBrowser();
  const contexts: BrowserContext[] = [];
  return {
    app,
    async open(accountId, options = {}) {
      const context = await browser.newContext(options);
      contexts.push(context);
      // Far longer than anything takes: what is checked is that it happens, not how busy the machine is.
      context.setDefaultTimeout(60_000);
      if (accountId !== null) {
        const value = await createSessionToken(app, accountId);
        const cookie = {
          name: "upstow_session",
          value,
          url: app.url,
          httpOnly: true,
          sameSite: "Strict" as const,
        };
        await context.addCookies([cookie]);
      }
      return { page: await context.newPage(), context };
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await app.close();
    },
  };
}

export async function goToPage(page: Page, name: string): Promise<void> {
  await page.getByLabel("Project", { exact: true }).waitFor();
  const menu = page.getByRole("button", { name: "Menu" });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  const heading = name === "Overview" ? { level: 1 } : { level: 1, name };
  await page.getByRole("heading", heading).waitFor();
}
