// The page of an upload link. It sends the files as resumable uploads, to show their progress and continue after a cut.
import { formatSize, make, takeDrops } from "./drop.js";

const form = document.querySelector("[data-upload]");
const input = form.querySelector("input");
const zone = form.querySelector("label");
const list = document.querySelector(".sent");
const status = document.querySelector("[role=status]");
const maxBytes = Number(form.dataset.maxBytes);
const token = location.pathname.split("/").at(-1);
const stalledMs = 60_000;
const waiting = [];
let filesLeft = Number(form.dataset.filesLeft);
let isSending = false;

// Only for browsers without script.
form.querySelector("button").remove();
input.classList.add("visually-hidden");
input.removeAttribute("aria-label");
zone.hidden = false;
input.addEventListener("change", () => {
  add(input.files);
  input.value = "";
});
takeDrops(zone, add);
addEventListener("beforeunload", (event) => {
  if (isSending) event.preventDefault();
});

function add(files) {
  for (const file of files) {
    const row = createRow(file);
    if (file.size > maxBytes) row.fail(tooLarge());
    else waiting.push(row);
  }
  void sendWaiting();
}

const tooLarge = () => `Too large: at most ${formatSize(maxBytes)}.`;

function createRow(file) {
  const bar = make("progress", { max: "1", value: "0", "aria-label": `Progress of ${file.name}` });
  const note = make("p", { class: "sent-note" });
  const name = make("strong", {}, make("bdi", {}, file.name));
  const size = make("span", { class: "dim" }, formatSize(file.size));
  const item = make("li", {}, make("p", { class: "sent-name" }, name, size), bar, note);
  list.append(item);
  const end = (state, ...text) => {
    item.dataset.state = state;
    bar.hidden = true;
    note.replaceChildren(...text);
  };
  return {
    file,
    /** Of the upload, once it has been created. */
    url: null,
    start() {
      delete item.dataset.state;
      bar.hidden = false;
      note.replaceChildren();
      status.textContent = `Uploading ${file.name}`;
    },
    advance(sentBytes) {
      bar.value = file.size === 0 ? 1 : sentBytes / file.size;
    },
    finish() {
      end("done", "Uploaded");
      status.textContent = `${file.name} is uploaded.`;
    },
    fail(reason, again) {
      status.textContent = `${file.name}: ${reason}`;
      const text = make("span", {}, reason);
      if (again === undefined) return end("failed", text);
      const button = make("button", { type: "button", class: "button small" }, "Try again");
      button.addEventListener("click", again);
      end("failed", text, button);
    },
  };
}

async function sendWaiting() {
  if (isSending) return;
  isSending = true;
  for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) await send(row);
  isSending = false;
  form.hidden = filesLeft <= 0;
  const mayContinue = list.querySelector("button") !== null;
  if (filesLeft > 0 || mayContinue) return;
  const all = list.children.length;
  const done = list.querySelectorAll("[data-state=done]").length;
  status.classList.remove("visually-hidden");
  status.textContent =
    done === all
      ? "All files are uploaded. You can close this page."
      : `${done} of ${all} files uploaded. This link accepts no further files.`;
}

async function send(row) {
  row.start();
  try {
    if (row.url === null) await create(row);
    const offset = await findOffset(row);
    if (offset !== null) await append(row, offset);
    row.finish();
  } catch (error) {
    if (error instanceof Rejection) return row.fail(error.message);
    row.fail(error instanceof Failure ? error.message : "The connection was lost.", () => {
      waiting.push(row);
      void sendWaiting();
    });
  }
}

/** Sending the file again would not help. */
class Rejection extends Error {}
class Failure extends Error {}

/** What the service rejects about a file, it rejects here, before any bytes are sent. */
async function create(row) {
  const { name, size, type } = row.file;
  const response = await fetch(new URL("../resumable", location.href), {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": type || "application/octet-stream",
      "content-disposition": `inline; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
      "upload-complete": "?0",
      "upload-length": String(size),
    },
  });
  if (!response.ok) throw explain(row, response.status, await response.json().catch(() => null));
  row.url = new URL(response.headers.get("location"), response.url).href;
  row.isNew = true;
  filesLeft--;
}

/** Null if everything arrived and only the response was lost. */
async function findOffset(row) {
  if (row.isNew) {
    row.isNew = false;
    return 0;
  }
  const response = await fetch(row.url, { method: "HEAD" });
  if (!response.ok) throw explain(row, response.status, null);
  return response.headers.get("upload-complete") === "?1"
    ? null
    : Number(response.headers.get("upload-offset"));
}

function append(row, offset) {
  const { file, url } = row;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PATCH", url);
    request.responseType = "json";
    request.setRequestHeader("content-type", "application/partial-upload");
    request.setRequestHeader("upload-complete", "?1");
    request.setRequestHeader("upload-offset", String(offset));
    // A phone without network tells neither side.
    let stalled = setTimeout(() => request.abort(), stalledMs);
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      row.advance(offset + loaded);
      clearTimeout(stalled);
      if (loaded < total) stalled = setTimeout(() => request.abort(), stalledMs);
    });
    request.addEventListener("loadend", () => {
      clearTimeout(stalled);
      if (request.status === 200) resolve();
      else if (request.status === 0) reject();
      else reject(explain(row, request.status, request.response));
    });
    request.send(file.slice(offset));
  });
}

function explain(row, status, body) {
  if (status === 401 || body?.error?.code === "FORBIDDEN") {
    filesLeft = 0;
    return new Rejection("This link accepts no further files. Request a new one.");
  }
  if (status === 404) {
    row.url = null;
    return new Failure("The upload was started too long ago.");
  }
  if ([408, 409, 429].includes(status) || status >= 500)
    return new Failure("The file could not be stored right now.");
  if (status === 413) return new Rejection(tooLarge());
  if (body?.error?.code === "CONTENT_MISMATCH") {
    // Such a file gives its place back.
    filesLeft++;
    return new Rejection(`The content of this file doesn't match its type, ${row.file.type || "unknown"}.`);
  }
  if (body?.error?.code === "INVALID_FILE_TYPE")
    return new Rejection(`Files of type ${row.file.type || "unknown"} are not accepted here.`);
  return new Rejection(body?.error?.message ?? "The upload failed.");
}
