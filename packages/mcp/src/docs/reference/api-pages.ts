import type { DocPage } from "../docs-library.ts";
import { createHeadingIds } from "../heading-ids.ts";
import type { ApiDocument, ApiOperation, ApiParameter, JsonSchema } from "./api-document.ts";
import { describeRange, describeType, type FieldRow, listFields } from "./describe-schema.ts";

interface Endpoint {
  method: string;
  path: string;
  operation: ApiOperation;
}

/** One page for each group of endpoints, from the document that the service serves. */
export function renderApiPages(document: ApiDocument): DocPage[] {
  const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  // By hand: Node 20 has no Map.groupBy.
  const groups = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const tag = endpoint.operation.tags?.[0] ?? "other";
    groups.set(tag, [...(groups.get(tag) ?? []), endpoint]);
  }
  return [...groups].map(([tag, members]) => renderGroup(tag, members));
}

function renderGroup(tag: string, endpoints: Endpoint[]): DocPage {
  const title = `API: ${tag}`;
  const list = endpoints.map(({ method, path }) => `\`${method} ${path.replace("/api/v1", "")}\``).join(", ");
  const summary = `Requests, responses and errors of ${list}.`;
  const nameHeading = createHeadingIds();
  const contents = endpoints.map(({ method, path: url, operation }) => {
    const name = operation.summary ?? url;
    return `- [${name}](#${nameHeading(name)}): \`${method} ${url.replace("/api/v1", "")}\``;
  });
  const markdown = `# ${title}\n\n${contents.join("\n")}\n\n${endpoints.map(renderEndpoint).join("\n")}`;
  const path = `reference/api/${tag.toLowerCase().replaceAll(" ", "-")}`;
  return { path, title, summary, markdown };
}

function renderEndpoint({ method, path, operation }: Endpoint): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const parts = [
    `## ${summary ?? path}`,
    `\`${method} ${path}\`${operation.security?.length === 0 ? ", without a key" : ""} · [try it](../explorer.md#${operation.operationId})`,
    description ?? "",
    renderParameters(parameters),
    requestBody === undefined ? "" : renderBody(requestBody.content["application/json"]?.schema),
    ...Object.entries(responses)
      .filter(([status]) => /^2\d\d$/.test(status))
      .map(([status, { content }]) => renderAnswer(status, content?.["application/json"]?.schema)),
    renderErrors(responses),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function renderParameters(parameters: ApiParameter[]): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, in: place, required, description, schema }) => {
    const about = [describeRange(schema), description ?? schema.description ?? ""];
    const type = `${describeType(schema)}${required === true ? "" : ", optional"}`;
    return [`\`${name}\``, place, type, about.filter(Boolean).join("; ")];
  });
  return table(["Parameter", "In", "Type", "Description"], rows);
}

function renderBody(schema: JsonSchema | undefined): string {
  if (schema === undefined) return "";
  return `**Request body**\n\n${fieldTable(listFields(schema), true)}`;
}

function renderAnswer(status: string, schema: JsonSchema | undefined): string {
  const fields = schema === undefined ? [] : listFields(schema);
  if (fields.length === 0) return `**Response ${status}**`;
  return `**Response ${status}**\n\n${fieldTable(fields, false)}`;
}

function fieldTable(fields: FieldRow[], showsOptional: boolean): string {
  const rows = fields.map(({ name, type, isRequired, about }) => [
    `\`${name}\``,
    showsOptional && !isRequired ? `${type}, optional` : type,
    about,
  ]);
  return table(["Field", "Type", "Description"], rows);
}

function renderErrors(responses: ApiOperation["responses"]): string {
  const rows = Object.entries(responses)
    .filter(([status]) => /^[45]\d\d$/.test(status))
    .map(([status, { description }]) => [status, description.replaceAll(/[A-Z_]{4,}/g, "`$&`")]);
  return `**Errors** ([what they mean](../errors.md))\n\n${table(["Status", "Code"], rows)}`;
}

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}
