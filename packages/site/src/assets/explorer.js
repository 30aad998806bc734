import { buildRequest, describeCurl, exampleOf } from "./explorer-request.js";

const article = document.querySelector("article");
const document_ = await (await fetch("/api/v1/openapi.json")).json();
const operations = Object.entries(document_.paths).flatMap(([path, methods]) =>
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
  return make("p", { className: "field" }, make("label", { htmlFor: control.id }, text), control);
}

const key = make("input", {
  type: "password",
  autocomplete: "off",
  spellcheck: false,
  placeholder: "svc_test_…",
});
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
const inputs = make("div");
const send = make("button", { type: "submit", className: "button" }, "Send");
const stop = make("button", { type: "button", className: "button quiet", hidden: true }, "Stop");
const curl = make("code");
const status = make("p", { role: "status", className: "status" });
const output = make("code");
const form = make(
  "form",
  { className: "explorer" },
  field("API key", key),
  field("Endpoint", choice),
  inputs,
  make("p", { className: "actions" }, send, stop),
);

function block(code, label) {
  return make(
    "div",
    { className: "code" },
    make("pre", { tabIndex: 0, role: "region", ariaLabel: label }, code),
  );
}
const answer = make("section", { hidden: true }, make("h2", {}, "Answer"), status, block(output, "Answer"));
article.append(form, make("h2", {}, "As a command"), block(curl, "Command"), answer);

let current;
let controls;

function showOperation() {
  current = operations.find(({ operationId }) => operationId === choice.value);
  controls = { parameters: new Map(), body: null };
  inputs.replaceChildren();
  for (const parameter of current.parameters ?? []) {
    const { name, required, schema } = parameter;
    const control = schema.enum
      ? make("select", {}, ...["", ...schema.enum].map((value) => make("option", { value }, value)))
      : make("input", {
          required: required === true,
          placeholder: schema.default ?? "",
          autocomplete: "off",
        });
    controls.parameters.set(parameter, control);
    inputs.append(field(`${name}${required ? "" : " (optional)"}`, control));
  }
  const schema = current.requestBody?.content["application/json"].schema;
  if (schema) {
    const text = JSON.stringify(exampleOf(schema), null, 2);
    controls.body = make("textarea", { rows: text.split("\n").length + 1, spellcheck: false, value: text });
    inputs.append(field("Body (JSON)", controls.body));
  }
  answer.hidden = true;
  showCurl();
}

function readForm() {
  const parameters = [...controls.parameters].map(([parameter, control]) => ({
    ...parameter,
    value: control.value,
  }));
  return buildRequest(current, parameters, controls.body?.value ?? null, key.value.trim());
}

function showCurl() {
  curl.textContent = describeCurl(readForm(), location.origin);
}

let running = null;

async function showAnswer(event) {
  event.preventDefault();
  const { url, method, headers, body } = readForm();
  running = new AbortController();
  send.disabled = true;
  stop.hidden = false;
  answer.hidden = false;
  output.textContent = "";
  status.textContent = "Sent …";
  const startedMs = performance.now();
  try {
    // The key alone decides: a dashboard's cookie is no credential here.
    const response = await fetch(url, { method, headers, body, credentials: "omit", signal: running.signal });
    const tookMs = Math.round(performance.now() - startedMs);
    const id = response.headers.get("x-request-id");
    const limit = response.headers.get("ratelimit");
    status.textContent = [`${response.status} ${response.statusText}`, `${tookMs} ms`, limit, id]
      .filter(Boolean)
      .join(" · ");
    // An event stream never ends, so pieces are shown as they come.
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) output.textContent += piece;
    if (response.headers.get("content-type")?.includes("json"))
      output.textContent = JSON.stringify(JSON.parse(output.textContent), null, 2);
  } catch (error) {
    if (error.name !== "AbortError") status.textContent = `There was no answer: ${error.message}`;
  } finally {
    send.disabled = false;
    stop.hidden = true;
  }
}

choice.addEventListener("change", showOperation);
form.addEventListener("input", (event) => event.target !== choice && showCurl());
form.addEventListener("submit", showAnswer);
stop.addEventListener("click", () => running?.abort());
const wanted = operations.find(({ operationId }) => operationId === location.hash.slice(1));
if (wanted) choice.value = wanted.operationId;
showOperation();
