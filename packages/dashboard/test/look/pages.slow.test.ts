import { test } from "node:test";
import { openEveryPage } from "../support/every-page.ts";
import { expectGoodLookInEveryView } from "../support/good-look.ts";

test("every page is accessible and fits a phone, in every view", (t) =>
  openEveryPage(t, expectGoodLookInEveryView));
