import type { Upstow } from "./upstow.ts";

/** Signs in to the dashboard with the link of the first start, as its owner does. */
export async function openConsole({ url, loginToken }: Upstow): Promise<(path: string) => Promise<Response>> {
  const claimed = await fetch(`${url}/dashboard/api/claim`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({
      token: loginToken,
      email: "bench@example.com",
      password: "correct horse battery",
    }),
  });
  const cookie = claimed.headers.get("set-cookie")?.split(";", 1)[0];
  if (cookie === undefined) throw new Error(`the claim was refused: ${await claimed.text()}`);
  return (path) => fetch(`${url}/dashboard/api${path}`, { headers: { cookie } });
}
