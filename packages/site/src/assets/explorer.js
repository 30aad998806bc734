// Calls to the API from the reference: beside each endpoint on its own page, and one form for all in the explorer.
import { buildRequest, describeCurl, exampleOf } from "./explorer-request.js";

const response = await fetch("/api/v1/openapi.json");
const { paths } = await response.json();
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    ...operation,
  })),
);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

let lastId = 0;
function field(text, control) {
  control.id = `explorer-${++lastId}`;
  control.className = "input";
  return make("p", { className: "field" }, make("label", { htmlFor: control.id }, text), control);
}

function block(code, label, about) {
  const copy = make(
    "button",
    { type: "button", className: "copy", ariaLabel: "Copy" },
    make("span", {}, "Copy"),
  );
  const caption = make("figcaption", {}, make("span", {}, label), copy);
  return make(
    "figure",
    { className: "code wrap" },
    caption,
    make("pre", { tabIndex: 0, role: "region", ariaLabel: about ? `${label}: ${about}` : label }, code),
  );
}

const command = /('(?:[^']|'\\'')*'|"[^"]*"|(?<=\s)-\w\b|^curl)/;
const kinds = { c: "keyword", "-": "class", "'": "string", '"': "string" };

/** In the colours that code has elsewhere in the docs. */
function colourCommand(text) {
  return text
    .split(command)
    .map((part, i) =>
      i % 2 === 0 ? part : make("span", { className: `sh__token--${kinds[part[0]]}` }, part),
    );
}

/** All forms of a page share the key, which stays in this page's memory. */
const keyInputs = new Set();
let key = "";

function createKeyField() {
  const input = make("input", {
    type: "password",
    autocomplete: "off",
    spellcheck: false,
    placeholder: "svc_test_…",
    value: key,
  });
  keyInputs.add(input);
  input.addEventListener("input", () => {
    key = input.value.trim();
    for (const other of keyInputs) if (other !== input) other.value = input.value;
  });
  return field("API key", input);
}

/** The call of one operation: its command, and on request the form that sends it. */
function createCall(operation, { isOpen }) {
  // Where several stand on a page, each is named.
  const about = isOpen ? null : operation.summary;
  const controls = [];
  const inputs = make("div");
  for (const parameter of operation.parameters ?? []) {
    const { name, required, schema } = parameter;
    const control = schema.enum
      ? make("select", {}, ...["", ...schema.enum].map((value) => make("option", { value }, value)))
      : make("input", {
          required: required === true,
          placeholder: schema.default ?? "",
          autocomplete: "off",
        });
    controls.push({ parameter, control });
    inputs.append(field(`${name}${required ? "" : " (optional)"}`, control));
  }
  const schema = operation.requestBody?.content["application/json"].schema;
  let body = null;
  if (schema) {
    const text = JSON.stringify(exampleOf(schema), null, 2);
    body = make("textarea", { rows: text.split("\n").length + 1, spellcheck: false, value: text });
    inputs.append(field("Body (JSON)", body));
  }
  const curl = make("code");
  const status = make("p", { role: "status", className: "status" });
  const output = make("code");
  const send = make("button", { type: "submit", className: "button primary" }, "Send");
  const stop = make("button", { type: "button", className: "button", hidden: true }, "Stop");
  const answer = make("div", { hidden: true }, status, block(output, "Response", about));
  const form = make(
    "form",
    { className: "explorer", hidden: !isOpen },
    createKeyField(),
    inputs,
    make("p", { className: "actions" }, send, stop),
    answer,
  );
  const read = () =>
    buildRequest(
      operation,
      controls.map(({ parameter, control }) => ({ ...parameter, value: control.value })),
      body?.value ?? null,
      key,
    );
  const show = () => {
    curl.replaceChildren(...colourCommand(describeCurl(read(), location.origin)));
  };
  show();
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer.hidden = false;
    sendRequest(read(), { send, stop, status, output });
  });
  return { form, command: block(curl, "Command", about) };
}

async function sendRequest({ url, method, headers, body }, { send, stop, status, output }) {
  const running = new AbortController();
  stop.onclick = () => running.abort();
  send.disabled = true;
  stop.hidden = false;
  output.textContent = "";
  status.textContent = "Sending…";
  const startedMs = performance.now();
  try {
    // Only the key counts: a dashboard's cookie is no credential here.
    const response = await fetch(url, { method, headers, body, credentials: "omit", signal: running.signal });
    const tookMs = Math.round(performance.now() - startedMs);
    const id = response.headers.get("x-request-id");
    const [, left, resetSec] = /;r=(\d+);t=(\d+)/.exec(response.headers.get("ratelimit")) ?? [];
    const facts = [
      `${response.status} ${response.statusText}`,
      `${tookMs} ms`,
      left && `${left} requests left for ${resetSec} s`,
      id && `request ID ${id}`,
    ];
    status.textContent = facts.filter(Boolean).join(" · ");
    // An event stream never ends, so it is shown as it arrives.
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) output.textContent += piece;
    if (response.headers.get("content-type")?.includes("json"))
      output.textContent = JSON.stringify(JSON.parse(output.textContent), null, 2);
  } catch (error) {
    if (error.name !== "AbortError") status.textContent = `No response: ${error.message}`;
  } finally {
    send.disabled = false;
    stop.hidden = true;
  }
}

function addPanels(places) {
  for (const place of places) {
    const operation = operations.find(({ operationId }) => operationId === place.dataset.operation);
    if (!operation) continue;
    const { form, command } = createCall(operation, { isOpen: false });
    const name = make("code", {}, operation.path.replace("/api/v1", ""));
    const badge = make("span", { className: `badge method ${operation.method}` }, operation.method);
    const open = make(
      "button",
      { type: "button", className: "button small", ariaExpanded: "false" },
      "Try it",
    );
    open.setAttribute("aria-label", `Try it: ${operation.summary}`);
    open.addEventListener("click", () => {
      form.hidden = !form.hidden;
      open.setAttribute("aria-expanded", String(!form.hidden));
      if (!form.hidden) form.querySelector("input").focus();
    });
    place.append(make("p", { className: "endpoint" }, badge, name, open), command, form);
  }
}

function addExplorer(article) {
  const choice = make("select");
  for (const tag of new Set(operations.map(({ tags }) => tags?.[0]))) {
    const members = operations.filter(({ tags }) => tags?.[0] === tag);
    const options = members.map((operation) =>
      make(
        "option",
        { value: operation.operationId },
        `${operation.method} ${operation.path} · ${operation.summary}`,
      ),
    );
    choice.append(make("optgroup", { label: tag }, ...options));
  }
  const place = make("section", { className: "operation" });
  const show = () => {
    keyInputs.clear();
    const operation = operations.find(({ operationId }) => operationId === choice.value);
    const { form, command } = createCall(operation, { isOpen: true });
    const panel = make("div", { className: "try" }, make("h2", {}, "As a command"), command);
    place.replaceChildren(form, panel);
  };
  choice.addEventListener("change", show);
  const wanted = operations.find(({ operationId }) => operationId === location.hash.slice(1));
  if (wanted) choice.value = wanted.operationId;
  article.append(field("Endpoint", choice), place);
  show();
}

const places = document.querySelectorAll("[data-operation]");
if (places.length > 0) addPanels(places);
else addExplorer(document.querySelector("article"));
