import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { until } from "../../../server/test/support/webhooks/until.ts";
import type { Dashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";
import type { Shot } from "./shot.ts";

const allWidths = [390, 820, 1024, 1440, 1920];
const mostHeight = 2400;

/** Takes a state at every width, light and dark, into a folder. */
export class Camera {
  readonly #dashboard: Dashboard;
  readonly #folder: string;
  /** One browser for each account, which its list of sessions shows. */
  readonly #pages = new Map<string, Page>();

  constructor(dashboard: Dashboard, folder: string) {
    this.#dashboard = dashboard;
    this.#folder = folder;
  }

  async take(shot: Shot): Promise<void> {
    const page = await this.#pageOf(shot.as);
    const { widths = allWidths, isTall = false } = shot;
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({
      width: Math.max(...widths) > 1440 ? 1440 : Math.max(...widths),
      height: 900,
    });
    // A link that differs in its fragment only would not be opened anew.
    await page.goto("about:blank");
    const { url } = this.#dashboard.app;
    const origin = shot.isOnLocalhost === true ? url.replace("127.0.0.1", "localhost") : url;
    await page.goto(`${origin}/dashboard${shot.path}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await untilSettled(page);
    await shot.prepare?.(page);
    // Nothing is shown as it looks below the pointer.
    await page.mouse.move(0, 0);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of widths) {
        const height = width < 500 ? 844 : 900;
        await page.setViewportSize({ width, height });
        if (shot.from !== undefined) await scrollTo(page, shot.from);
        await untilSettled(page);
        if (isTall) await page.setViewportSize({ width, height: await heightOf(page, height) });
        await untilDrawn(page);
        await page.screenshot({ path: join(this.#folder, `${shot.name}-${width}-${colorScheme}.png`) });
      }
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
    if (shot.as === null) await page.context().close();
  }

  async #pageOf(account: string | null): Promise<Page> {
    const known = account === null ? undefined : this.#pages.get(account);
    if (known !== undefined) return known;
    const { page, context } = await this.#dashboard.open(account);
    shorten(context);
    if (account !== null) this.#pages.set(account, page);
    return page;
  }
}

const scrollTo = (page: Page, heading: string) =>
  page.evaluate(
    `[...document.querySelectorAll("h2, h3")].find((one) => one.textContent === ${JSON.stringify(heading)}).scrollIntoView()`,
  );

const isDrawn = `[...document.images].every((image) => image.complete
  || image.getBoundingClientRect().top > innerHeight || image.getBoundingClientRect().bottom < 0)`;

/** Pictures in view have loaded. */
const untilDrawn = (page: Page) => until(() => page.evaluate<boolean>(isDrawn));

async function heightOf(page: Page, least: number): Promise<number> {
  const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
  return Math.min(mostHeight, Math.max(least, height));
}

/** A state that cannot be reached is reported, and should not hold up all others for a minute. */
function shorten(context: BrowserContext): void {
  context.setDefaultTimeout(20_000);
}
