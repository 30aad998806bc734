/** The bucket's variables as passed to the command, without the secret. */
const bucketVariables = [
  "UPSTOW_S3_BUCKET",
  "UPSTOW_S3_ENDPOINT",
  "UPSTOW_S3_PUBLIC_ENDPOINT",
  "UPSTOW_S3_REGION",
  "UPSTOW_S3_FORCE_PATH_STYLE",
  "UPSTOW_S3_PREFIX",
  "UPSTOW_S3_DELIVERY",
  "UPSTOW_S3_ACCESS_KEY_ID",
];

export type Settings = Record<string, string>;

const asGiven = "<as for this command>";

export function bucketSettings(env: NodeJS.ProcessEnv): Settings {
  const given = bucketVariables.flatMap((name) => {
    const value = env[name]?.trim() ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(given), UPSTOW_S3_SECRET_ACCESS_KEY: asGiven };
}

export function databaseSettings(url: string): Settings {
  const shown = new URL(url);
  const password = shown.password === "" ? "" : ":<password>";
  const user = shown.username === "" ? "" : `${shown.username}${password}@`;
  return { UPSTOW_DATABASE_URL: `${shown.protocol}//${user}${shown.host}${shown.pathname}${shown.search}` };
}

/** The remaining manual steps, in order. */
export function describeRestart(settings: Settings): string {
  const lines = Object.entries(settings).map(([name, value]) => `  ${name}=${value}`);
  return [
    "Add these to the variables of the service:",
    ...lines,
    "Then restart it: `systemctl restart upstow`, or end it with SIGTERM and run `npm start`.",
  ].join("\n");
}
