/** Those that call themselves by the name of another as well come first. */
const browsers: [sign: RegExp, name: string][] = [
  [/\bEdg(?:A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/(?:Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: [sign: RegExp, name: string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** In words that people know; what is not understood is shown as it came. */
export function nameBrowser(userAgent: string): string {
  const [browser, system] = [browsers, systems].map(
    (names) => names.find(([sign]) => sign.test(userAgent))?.[1],
  );
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return userAgent === "" ? "Unknown client" : userAgent;
}
