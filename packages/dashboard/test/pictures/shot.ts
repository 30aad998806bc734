import type { Page } from "playwright-core";

/** One state of one page. */
export interface Shot {
  name: string;
  /** Below /dashboard. */
  path: string;
  /** The account that is signed in; null for nobody. */
  as: string | null;
  /** What brings the page into this state. */
  prepare?: ((page: Page) => Promise<unknown>) | undefined;
  /** The heading that the picture begins with, where it is not the first. */
  from?: string;
  /** The picture is as high as the page, for pages that are read to their end. */
  isTall?: boolean;
  /** Passkeys need a host name. */
  isOnLocalhost?: boolean;
  /** Of those in which the state exists. */
  widths?: number[];
}

export type Shots = AsyncGenerator<Shot>;

export const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole("button", { name }).first().click();

/** The same on the dialog that is on top. */
export const pressInDialog = (page: Page, name: string | RegExp) =>
  page.getByRole("dialog").last().getByRole("button", { name }).click();

/** One after the other. */
export function inTurn(...steps: ((page: Page) => Promise<unknown>)[]) {
  return async (page: Page) => {
    for (const step of steps) await step(page);
  };
}

/** The checkboxes of the rows, the first of which selects all. */
export const select =
  (...rows: number[]) =>
  async (page: Page) => {
    for (const row of rows)
      await page
        .getByRole("checkbox", { name: /^Select / })
        .nth(row)
        .check();
  };

/** Calls to these URLs don't arrive from here on. */
export const cutOff = (url: string) => (page: Page) => page.route(url, (route) => route.abort());

export const see = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();
