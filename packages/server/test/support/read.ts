/** Asks for a served file as any client on the web would. */
export function read(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return fetch(url, { method, headers });
}
