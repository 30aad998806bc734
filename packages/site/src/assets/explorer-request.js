/** A value that a schema would accept, to start typing from. */
export function exampleOf(schema) {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0]);
  const type = [schema.type].flat()[0];
  if (type === "object") {
    const needed = Object.entries(schema.properties ?? {}).filter(([name]) =>
      schema.required?.includes(name),
    );
    return Object.fromEntries(needed.map(([name, property]) => [name, named[name] ?? exampleOf(property)]));
  }
  if (type === "array")
    return (schema.minItems ?? 0) > 0 || schema.items?.properties ? [exampleOf(schema.items)] : [];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return false;
  return "";
}

/** Where a schema alone leads to a call that is sure to fail. */
const named = {
  fileName: "hello.txt",
  fileSize: 14,
  contentType: "text/plain",
  routeSlug: "default",
  name: "My project",
  slug: "pictures",
};

export function buildRequest({ method, path }, parameters, body, key) {
  const filled = parameters.filter(({ value }) => value !== "");
  const query = new URLSearchParams(
    filled.filter((parameter) => parameter.in === "query").map(({ name, value }) => [name, value]),
  );
  const place = path.replaceAll(/\{(\w+)\}/g, (hole, name) => {
    const given = filled.find((parameter) => parameter.in === "path" && parameter.name === name);
    return given ? encodeURIComponent(given.value) : hole;
  });
  const headers = Object.fromEntries(
    filled.filter((parameter) => parameter.in === "header").map(({ name, value }) => [name, value]),
  );
  if (key !== "") headers.Authorization = `Bearer ${key}`;
  if (body !== null) headers["Content-Type"] = "application/json";
  return { url: place + (query.size > 0 ? `?${query}` : ""), method, headers, body };
}

/** The same request for a shell. The key is named, never shown. */
export function describeCurl({ url, method, headers, body }, origin) {
  const { Authorization, ...others } = headers;
  // A GET is what curl sends by itself.
  const call = method === "GET" ? "curl" : `curl -X ${method}`;
  const lines = [`${call} ${quote(origin + url)}`, '-H "Authorization: Bearer $UPSTOW_API_KEY"'];
  for (const [name, value] of Object.entries(others)) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (body !== null) lines.push(`-d ${quote(body)}`);
  return lines.join(" \\\n  ");
}

function quote(text) {
  if (/^[\w./:-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
