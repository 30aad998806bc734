// Sets the checkout up for `npm start` ("serve") or `npm test` ("test"). It runs before anything is installed,
// on whatever Node the machine has: only built-ins, and nothing newer than Node 20. All messages go to stderr,
// because `npm run --silent upstow -- … --json` passes through here and its stdout must be JSON alone.
import { fileURLToPath } from "node:url";
import { buildTarget, buildTargets, isStale } from "./build-targets.mjs";
import { findMissingPackages, installDebianPackages, testPackages } from "./debian-packages.mjs";
import { areExamplesReady, installExamples } from "./install-examples.mjs";
import { installPackages, isInstalled } from "./install-packages.mjs";
import { withLock } from "./lock.mjs";
import { SetUpError } from "./run-captured.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const scope = process.argv[2];
const say = (message) => process.stderr.write(`[set-up] ${message}\n`);

function isReady() {
  return (
    isInstalled(root, scope) &&
    !buildTargets.some((target) => isStale(root, target)) &&
    (scope === "serve" || (findMissingPackages(testPackages).length === 0 && areExamplesReady(root)))
  );
}

async function setUp() {
  if (!isInstalled(root, scope)) await installPackages(root, scope, say);
  for (const target of buildTargets) {
    if (isStale(root, target)) await buildTarget(root, target, say);
  }
  if (scope !== "test") return;
  await installDebianPackages(testPackages, say);
  // Without them only their own tests fail, and say why.
  await installExamples(root, say).catch((error) => say(error.message));
}

if (scope !== "serve" && scope !== "test") {
  say("usage: node scripts/bootstrap.mjs serve|test");
  process.exit(2);
}
try {
  if (!isReady()) await withLock(fileURLToPath(new URL(".bootstrap.lock", import.meta.url)), say, setUp);
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
