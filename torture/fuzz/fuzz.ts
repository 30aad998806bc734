import { assertCountersMatch } from "../../packages/server/test/support/recount.ts";
import { type DatabaseKind, startApp, type TestApp } from "../../packages/server/test/support/start-app.ts";
import { createRandom, type Random } from "../random.ts";
import type { Outcome, RunOptions } from "../scenario.ts";
import { watchForStalls } from "../stalls.ts";
import { type Choice, createChoice } from "./choice.ts";
import { createClient, type FuzzAnswer, type RawRequest } from "./client.ts";
import { harvest } from "./harvest.ts";
import { checkError, createJudge } from "./judge.ts";
import { type ApiDocument, listOperations, type Operation } from "./operations.ts";
import { createPrivateRead, judgePrivateRead } from "./private-reads.ts";
import { createRequest, type FuzzRequest, type Mode } from "./requests.ts";
import { createSignedRequest } from "./signed-urls.ts";
import { compareStrangers } from "./strangers.ts";
import { type Actor, addFile, addParts, createActors, createBadKeys } from "./tenants.ts";

const clients = 8;
const mostViolations = 20;
const standstill = "not judged, because the machine was suspended";
const modes: Mode[] = ["valid", "valid", "near-valid", "near-valid", "hostile"];

/** Calls everything the API describes, rightly, nearly rightly and with ill will, on the database that the seed picks. */
export function fuzz(options: RunOptions): Promise<Outcome> {
  return fuzzDatabase(options.random.chance(0.5) ? "sqlite" : "postgres", options);
}

export async function fuzzDatabase(database: DatabaseKind, options: RunOptions): Promise<Outcome> {
  const app = await startApp({
    database,
    env: { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8", UPSTOW_WEBHOOK_RETRY_BASE_MS: "50" },
  });
  const run = await createRun(app, database);
  try {
    let left = options.rounds;
    const act = async (random: Random) => {
      const choice = createChoice(random);
      while (left-- > 0 && !options.isTimeUp() && run.violations.length < mostViolations) {
        await run.sendOne(choice);
        options.onRound(1, run.counts);
      }
    };
    const seeds = Array.from({ length: clients }, () => options.random.int(0, 2 ** 31));
    await Promise.all(seeds.map((seed) => act(createRandom(seed))));
    await run.finish();
    return { counts: run.counts, violations: run.violations };
  } finally {
    run.close();
    await app.close();
  }
}

async function createRun(app: TestApp, database: DatabaseKind) {
  const document: ApiDocument = (await app.call("GET", "openapi.json")).body;
  const operations = listOperations(document);
  const actors = await createActors(app);
  const badKeys = Object.entries(await createBadKeys(app));
  const judge = createJudge(document, actors);
  const client = createClient(app.url, clients);
  const stalls = watchForStalls();
  const violations: string[] = [];
  const succeeded = new Set<string>();
  const counts: Record<string, number> = {
    [`requests on ${database}`]: 0,
    "successful responses": 0,
    "without a valid key": 0,
    "with another tenant's ids": 0,
    "signed URLs": 0,
    "private files read with a right": 0,
    "private files asked for without": 0,
    "pairs of unknown and foreign ids compared": 0,
  };
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };

  function report(problem: string, request: object, answer: FuzzAnswer | null): void {
    const cause = app.logLines.findLast((line) => line.includes('"err"'))?.slice(0, 1_500);
    const shown = answer === null ? "no answer" : `${answer.status} ${answer.text.slice(0, 500)}`;
    violations.push(
      `${problem}\n  ${JSON.stringify({ ...request, operation: undefined }).slice(0, 2_000)}\n  → ${shown}` +
        (answer === null || answer.status >= 500 ? `\n  ${cause}` : ""),
    );
  }

  async function sendOne(choice: Choice): Promise<void> {
    count(`requests on ${database}`);
    // The lines are needed only to explain a failure.
    if (app.logLines.length > 2_000) app.logLines.length = 0;
    if (choice.chance(0.15)) return sendSigned(choice);
    if (choice.chance(0.15)) return readPrivately(choice);
    await refill(choice);
    const operation = choice.pick(operations);
    const mode = choice.pick(modes);
    const asker = choice.pick(actors);
    const owner = choice.chance(0.15) ? choice.pick(actors) : asker;
    const request = createRequest(operation, mode, { asker, owner }, choice);
    if (choice.chance(0.12)) return sendWithoutKey(request, choice);
    if (owner.accountId !== asker.accountId) count("with another tenant's ids");
    await sendAs(request, asker);
  }

  /** Requests delete what others need; small accounts have no room for large files. */
  async function refill(choice: Choice): Promise<void> {
    const live = choice.pick(actors.filter(({ name }) => name === "large live" || name === "middle live"));
    if (choice.chance(0.003)) await addFile(app, live, "image/png", "default").catch(noteRefill);
    if (choice.chance(0.000_5)) await addParts(app, live).catch(noteRefill);
  }

  /** The route that it goes by may just have been changed. */
  function noteRefill(): void {
    count("refills refused");
  }

  async function sendAs(request: FuzzRequest, actor: Actor): Promise<void> {
    const answer = await exchange(request, { authorization: `Bearer ${actor.secret}` });
    if (answer === null) return;
    const problem = judge(request, actor, answer);
    if (problem !== null) report(`${request.operation.name} as ${actor.name}: ${problem}`, request, answer);
    if (answer.status < 300) {
      count("successful responses");
      succeeded.add(request.operation.name);
    }
    harvest(request, actor, answer);
  }

  async function sendWithoutKey(request: FuzzRequest, choice: Choice): Promise<void> {
    count("without a valid key");
    const [state, headers] = choice.pick(badKeys);
    const answer = await exchange(request, headers);
    if (answer === null) return;
    const problem = judge(request, null, answer);
    if (problem !== null) report(`${request.operation.name} with ${state}: ${problem}`, request, answer);
  }

  /** Null where there is nothing to judge. */
  async function exchange(request: FuzzRequest, headers: Record<string, string>): Promise<FuzzAnswer | null> {
    const { operation: _, mode: __, ...raw } = request;
    return send({ ...raw, headers: { ...raw.headers, ...headers } }, raw);
  }

  async function send(request: RawRequest, shown: object): Promise<FuzzAnswer | null> {
    const startedMs = Date.now();
    try {
      const answer = await client.send(request);
      if (answer.status !== 503 || !stalls.overlap(startedMs)) return answer;
      count(standstill);
    } catch (error) {
      if (stalls.overlap(startedMs)) count(standstill);
      else report(`the connection failed: ${error}`, shown, null);
    }
    return null;
  }

  async function sendSigned(choice: Choice): Promise<void> {
    const request = createSignedRequest(choice.pick(actors), choice);
    if (request === null) return;
    count("signed URLs");
    const shown = { ...request, body: null };
    const answer = await send(request, shown);
    if (answer === null) return;
    const problem =
      answer.status >= 500
        ? `status ${answer.status}`
        : request.method === "PUT" && answer.status < 300 && !request.isIntact
          ? "an edited URL was taken"
          : checkError(answer.status, answer.json);
    if (problem !== null) report(`a signed URL: ${problem}`, shown, answer);
  }

  async function readPrivately(choice: Choice): Promise<void> {
    const request = await createPrivateRead(app, actors, choice);
    const answer = await send(request, request);
    if (answer === null) return;
    if (request.right !== "some") count("private files asked for without");
    else if (answer.status < 300) count("private files read with a right");
    const problem = judgePrivateRead(request, answer, actors) ?? checkError(answer.status, answer.json);
    if (problem !== null) report(`a private file: ${problem}`, request, answer);
  }

  /** Short runs do not reach everything; long ones have to. */
  function findUnreached(): Operation[] {
    return (counts[`requests on ${database}`] ?? 0) < 50_000
      ? []
      : operations.filter(({ name }) => !succeeded.has(name));
  }

  async function finish(): Promise<void> {
    for (const { name } of findUnreached()) violations.push(`${name} never succeeded`);
    const compared = await compareStrangers({ client, operations, actors });
    counts["pairs of unknown and foreign ids compared"] = compared.pairs;
    violations.push(...compared.violations);
    for (const { name, secret, projectId } of actors) {
      const answer = await app.call("GET", "usage", { key: secret });
      if (answer.status !== 200) violations.push(`${name} cannot use its own key any more`);
      await assertCountersMatch(app, projectId).catch((error) => {
        violations.push(`the counters of ${name} differ from a recount: ${error.message}`);
      });
    }
    if ("polluted" in {}) violations.push("the prototype of all objects was changed");
  }

  const close = () => {
    stalls.stop();
    client.close();
  };

  return { violations, counts, sendOne, finish, close };
}
