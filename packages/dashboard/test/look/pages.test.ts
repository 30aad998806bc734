import { test } from "node:test";
import { openEveryPage } from "../support/every-page.ts";
import { expectGoodLook } from "../support/good-look.ts";

// Dialogs and the steps of signing in, and every width in every scheme: the slow tests beside this one.
test("every page is accessible and fits a phone", (t) => openEveryPage(t, expectGoodLook));
