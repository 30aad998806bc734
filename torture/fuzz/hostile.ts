import type { Choice } from "./choice.ts";

/** Text that has broken other services: paths, encodings, markup, formats, numbers in disguise. */
const texts = [
  "",
  " ",
  "..",
  "../../../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "%2e%2e%2f",
  "%252e%252e%252f",
  "..\\..\\windows\\win.ini",
  "C:\\nul",
  "/",
  "//",
  ".",
  "\u0000",
  "a\u0000b",
  "%00",
  "\r\nSet-Cookie: a=b",
  "a\nb\tc",
  '"; DROP TABLE file; --',
  "' OR '1'='1",
  "\u0024{jndi:ldap://127.0.0.1/a}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "-0",
  "1e400",
  "0x10",
  "9007199254740993",
  "\ud800",
  "\udfff\ud800",
  "\ufeff",
  "\u202egnp.exe",
  "e\u0301",
  "\u00e9",
  "．．／",
  "😀".repeat(64),
  "a".repeat(256),
  "a".repeat(5_000),
  "😀".repeat(300),
  "$&$1$`",
  "*",
  "%",
  "%zz",
  "%c0%af",
  "[object Object]",
  "true",
  "2026-13-45T25:61:61Z",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "2026-01-01T00:00:00+99:99",
  "+275760-09-13T00:00:00.000Z",
  'text/html; charset="\r\n"',
];

const numbers = [
  0,
  -0,
  -1,
  0.5,
  1e21,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 53 - 1,
  2 ** 63,
  -(2 ** 63),
  4_194_305,
  10_485_761,
  5 * 1024 ** 3 + 1,
];

/** A value of a kind that nobody asked for. */
export function hostileValue(choice: Choice, depth = 0): unknown {
  const kind = choice.int(0, depth > 3 ? 4 : 8);
  if (kind <= 2) return hostileText(choice);
  if (kind === 3) return choice.pick(numbers);
  if (kind === 4) return choice.pick([null, true, false, [], {}]);
  if (kind === 5) return Array.from({ length: choice.int(0, 4) }, () => hostileValue(choice, depth + 1));
  if (kind === 6) return nest(choice.int(2, 130));
  const value: Record<string, unknown> = {};
  for (let i = choice.int(0, 4); i > 0; i--) {
    // A plain assignment to "__proto__" would be lost before it is sent.
    Object.defineProperty(value, hostileText(choice), {
      value: hostileValue(choice, depth + 1),
      enumerable: true,
      configurable: true,
    });
  }
  return value;
}

export function hostileText(choice: Choice): string {
  if (choice.chance(0.8)) return choice.pick(texts);
  return Array.from({ length: choice.int(1, 40) }, () =>
    String.fromCodePoint(
      choice.pick([choice.int(0, 0x7f), choice.int(0x80, 0xfff), choice.int(0x10000, 0x10fff)]),
    ),
  ).join("");
}

function nest(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? { a: value } : [value];
  return value;
}

/** Bodies that are not, or not quite, a JSON object. */
export function hostileBody(choice: Choice, valid: string): string {
  const at = choice.int(0, valid.length);
  return choice.pick([
    () => valid.slice(0, at),
    () =>
      `${valid.slice(0, at)}${choice.pick(["\u0000", "\\", '"', "{", "]", ",", "\ud800"])}${valid.slice(at)}`,
    () => `${valid}${valid}`,
    () => valid.replace("{", '{"a":1,"a":2,'),
    () => valid.replace("{", '{"__proto__":{"polluted":true},'),
    () => valid.replace("{", '{"x":1e400,'),
    () => JSON.stringify([JSON.parse(valid)]),
    () => JSON.stringify(valid),
    () => choice.pick(["null", "1", '""', "[]", "", " ", "\ufeff{}", "{'a':1}", "{a:1}", "[".repeat(5_000)]),
    () => `{"a":${"[".repeat(150)}${"]".repeat(150)}}`,
    () => valid.replace("{", `{"padding":"${"x".repeat(choice.int(0, 20) === 0 ? 1_100_000 : 2_000)}",`),
  ])();
}
