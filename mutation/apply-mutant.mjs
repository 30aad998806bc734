// Loaded into every process of a test run: the file on disk stays as it is, what is imported is the mutant.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const { url, start, end, text } = JSON.parse(process.env.UPSTOW_MUTANT ?? "{}");

registerHooks({
  load(address, context, next) {
    const loaded = next(address, context);
    if (address !== url) return loaded;
    const source = readFileSync(new URL(url), "utf8");
    return { ...loaded, source: source.slice(0, start) + text + source.slice(end) };
  },
});
