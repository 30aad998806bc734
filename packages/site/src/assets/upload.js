// The page of an upload link. It sends each file as a separate form, to show its progress and its result.
import { formatSize, make, takeDrops } from "./drop.js";

const form = document.querySelector("[data-upload]");
const input = form.querySelector("input");
const zone = form.querySelector("label");
const list = document.querySelector(".sent");
const status = document.querySelector("[role=status]");
const maxBytes = Number(form.dataset.maxBytes);
let filesLeft = Number(form.dataset.filesLeft);
const waiting = [];
let isSending = false;

// Only for browsers without script.
form.querySelector("button").remove();
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
    if (file.size > maxBytes) row.fail(`Too large: at most ${formatSize(maxBytes)}.`);
    else waiting.push(row);
  }
  void sendWaiting();
}

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
    start() {
      delete item.dataset.state;
      bar.hidden = false;
      note.replaceChildren();
      status.textContent = `Uploading ${file.name}`;
    },
    advance(share) {
      bar.value = share;
    },
    finish() {
      end("done", "Uploaded");
      status.textContent = `${file.name} is uploaded.`;
    },
    fail(reason, again) {
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
  if (filesLeft > 0) return;
  form.hidden = true;
  status.classList.remove("visually-hidden");
  status.textContent = "Everything has arrived. You can close this page.";
}

async function send(row) {
  row.start();
  try {
    const { files = [], failures = [], error } = await post(row);
    if (files.length > 0) {
      filesLeft--;
      row.finish();
    } else row.fail(failures[0]?.message ?? error?.message ?? "The upload failed.");
  } catch {
    row.fail("The connection was lost.", () => {
      waiting.push(row);
      void sendWaiting();
    });
  }
}

function post(row) {
  const body = new FormData();
  body.append("file", row.file, row.file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", location.pathname);
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => row.advance(loaded / total));
    request.addEventListener("load", () =>
      request.response === null ? reject() : resolve(request.response),
    );
    request.addEventListener("error", reject);
    request.send(body);
  });
}
