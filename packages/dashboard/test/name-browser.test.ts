import assert from "node:assert/strict";
import { test } from "node:test";
import { nameBrowser } from "../app/pages/account/name-browser.ts";

const webKit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const blink = "AppleWebKit/537.36 (KHTML, like Gecko)";
const known = {
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/142.0.0.0 Safari/537.36`]: "Chrome on Windows",
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`]:
    "Edge on Windows",
  [`Mozilla/5.0 (X11; Linux x86_64) ${blink} Chrome/142.0.0.0 Safari/537.36 OPR/126.0.0.0`]: "Opera on Linux",
  [`Mozilla/5.0 (Linux; Android 15; SM-S931B) ${blink} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`]:
    "Samsung Internet on Android",
  "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0": "Firefox on Linux",
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Version/18.1 Safari/605.1.15`]:
    "Safari on macOS",
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${webKit} Version/18.1 Mobile/15E148 Safari/604.1`]:
    "Safari on iPhone",
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${webKit} CriOS/142.0 Mobile/15E148 Safari/604.1`]:
    "Chrome on iPhone",
};

test("browsers are called by their names", () => {
  for (const [userAgent, name] of Object.entries(known))
    assert.equal(nameBrowser(userAgent), name, userAgent);
});

test("what is not known is shown as it came", () => {
  assert.equal(nameBrowser("curl/8.5.0"), "curl/8.5.0");
  assert.equal(nameBrowser("Linux"), "Linux");
  assert.equal(nameBrowser(""), "Unknown client");
});
