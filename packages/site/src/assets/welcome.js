// The dropzone of the welcome page: a real upload into the owner's sandbox, with its event as it arrives.
import { formatSize, make, takeDrops } from "./drop.js";

const panel = document.querySelector("[data-welcome]");
const icons = {
  upload: panel.querySelector("svg"),
};

async function call(path, body) {
  const response = await fetch(`/welcome/${path}`, {
    method: body ? "POST" : "GET",
    headers: body ? { "content-type": "application/json" } : {},
    body: body ? JSON.stringify(body) : null,
    credentials: "omit",
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(describe(response.status, answer.error));
  return answer;
}

function describe(status, error) {
  if (status === 429) return "Too many uploads from your network. Try again in a minute.";
  const [detail] = error?.details ?? [];
  return detail
    ? `${labels[detail.path] ?? detail.path} ${detail.message}.`
    : (error?.message ?? "Upload failed.");
}
const labels = { contentType: "The file", fileSize: "The file size", fileName: "The file name" };

function showUnclaimed() {
  // Breaks in the middle where it has to, and not between the hyphens.
  const command = ["npm run upstow ", "-- account login-link"].map((part) => make("span", {}, part));
  const claim = make(
    "div",
    { class: "drop" },
    icons.upload,
    make("p", {}, make("strong", {}, "Claim this installation")),
    make(
      "p",
      { class: "dim" },
      "It has no owner yet. Open the sign-in link printed at first start. It contains ",
      make("code", {}, "/dashboard/claim"),
      " and works once, for 24 hours.",
    ),
    make("p", { class: "dim" }, "Link expired or lost? Create a new one on the server:"),
    make(
      "p",
      { class: "copyline" },
      make("code", {}, ...command),
      make(
        "button",
        { type: "button", class: "copy button small", "aria-label": "Copy" },
        make("span", {}, "Copy"),
      ),
    ),
  );
  panel.replaceChildren(claim);
}

function showDropzone(maxBytes, problem) {
  const input = make("input", { type: "file", id: "welcome-file", class: "visually-hidden" });
  const zone = make(
    "label",
    { class: "drop", for: "welcome-file" },
    icons.upload,
    make("span", {}, make("strong", {}, "Drop a file to try it"), " or ", make("u", {}, "choose one")),
    make(
      "span",
      { class: "dim" },
      `Up to ${maxBytes / 1024 / 1024} MB. It goes to the sandbox and is deleted after an hour.`,
    ),
  );
  const status = make("p", { role: "status", class: "problem" }, problem ?? "");
  panel.replaceChildren(input, zone, status);
  input.addEventListener("change", () => input.files[0] && upload(input.files[0], maxBytes));
  takeDrops(zone, ([file]) => file && upload(file, maxBytes));
  if (problem) input.focus();
}

function createStep(name) {
  const time = make("span", { class: "dim" });
  const item = make("li", {}, make("i"), make("strong", {}, name), time);
  return {
    item,
    finish(detail) {
      item.dataset.done = "";
      time.textContent = detail;
    },
  };
}

async function upload(file, maxBytes) {
  if (file.size > maxBytes || file.size === 0) {
    const reason =
      file.size === 0 ? "The file is empty." : `The file is too large: ${formatSize(file.size)}.`;
    return showDropzone(maxBytes, reason);
  }
  const steps = ["Presigned URL", "Bytes stored", "Upload confirmed", "Event received"].map(createStep);
  const bar = make("progress", { max: "1", value: "0", "aria-label": "Upload progress" });
  const status = make("p", { role: "status", class: "visually-hidden" }, `Uploading ${file.name}`);
  const name = make("bdi", {}, file.name);
  panel.replaceChildren(
    make(
      "p",
      { class: "upload-name" },
      make("strong", {}, name),
      make("span", { class: "dim" }, formatSize(file.size)),
    ),
    bar,
    make("ol", { class: "steps" }, ...steps.map(({ item }) => item)),
    status,
  );
  let events;
  try {
    const startedMs = performance.now();
    const tookSince = (fromMs) => `${Math.round(performance.now() - fromMs)} ms`;
    const type = file.type || "text/plain";
    const { fileId, uploadUrl } = await call("uploads", {
      fileName: file.name,
      fileSize: file.size,
      contentType: type,
    });
    steps[0].finish(tookSince(startedMs));
    events = new EventSource(`/welcome/events/${fileId}`);
    const arrived = new Promise((resolve) => {
      events.addEventListener("upload.completed", ({ data }) => resolve(JSON.parse(data)));
      events.addEventListener("error", () => resolve(null));
    });
    const putMs = performance.now();
    await put(uploadUrl, file, type, (share) => {
      bar.value = share;
    });
    bar.value = 1;
    steps[1].finish(tookSince(putMs));
    const completeMs = performance.now();
    const { file: stored } = await call("uploads/complete", { fileId });
    steps[2].finish(tookSince(completeMs));
    showFile(stored, maxBytes);
    const event = await arrived;
    if (event) {
      steps[3].finish(tookSince(completeMs));
      showEvent(event);
    }
    status.textContent = `${file.name} is uploaded.`;
  } catch (error) {
    showDropzone(maxBytes, error.message);
  } finally {
    events?.close();
  }
}

function put(url, file, type, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    request.setRequestHeader("content-type", type);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded / total));
    request.addEventListener("load", () =>
      request.status < 300 ? resolve() : reject(new Error(`Storage returned ${request.status}.`)),
    );
    request.addEventListener("error", () => reject(new Error("The connection to storage failed.")));
    request.send(file);
  });
}

function showFile({ url, type, name }, maxBytes) {
  // Breaks between the parts of the URL rather than in one of them.
  const parts = url.split(/(?<=\w\/)(?=\w)/).flatMap((part) => [part, make("wbr")]);
  const link = make("a", { href: url, target: "_blank", rel: "noopener" }, ...parts);
  const copy = make("button", { type: "button", class: "copy button small", "aria-label": "Copy the URL" });
  copy.append(make("span", {}, "Copy"));
  const line = make("p", { class: "copyline" }, make("code", {}, link), copy);
  if (type.startsWith("image/")) panel.append(make("img", { src: url, alt: name, class: "uploaded" }));
  const again = make("button", { type: "button", class: "button small" }, "Upload another file");
  again.addEventListener("click", () => {
    showDropzone(maxBytes);
    document.getElementById("welcome-file").focus();
  });
  panel.append(
    line,
    make(
      "p",
      { class: "actions" },
      again,
      make("a", { class: "button small", href: "/dashboard" }, "See it in the dashboard"),
    ),
  );
}

function showEvent({ messageId, body }) {
  const code = make("pre", { tabindex: "0", "aria-label": "Event", role: "region" });
  code.append(make("code", {}, JSON.stringify(body, null, 2)));
  const caption = make("figcaption", {}, make("span", {}, "upload.completed"), make("small", {}, messageId));
  panel.append(make("figure", { class: "code event" }, caption, code));
}

const welcome = await call("state").catch(() => ({ state: "off" }));
if (welcome.state === "unclaimed") showUnclaimed();
if (welcome.state === "ready") showDropzone(welcome.maxBytes);
