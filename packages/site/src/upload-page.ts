import { drawIcon } from "@upstow/kit/draw-icon";
import { cloudUploadIcon } from "@upstow/kit/icons";
import { formatSize } from "./assets/drop.js";
import { escapeHtml } from "./escape.ts";

/** What the holder of an upload grant may still send. */
export interface UploadOffer {
  filesLeft: number;
  maxBytes: number;
  /** Media types such as `image/*`; none where every type is accepted. */
  types: readonly string[];
}

const typeNames: Record<string, string> = {
  "image/*": "images",
  "video/*": "videos",
  "audio/*": "audio",
  "text/*": "text files",
  "text/plain": "plain text",
  "image/svg+xml": "SVG",
  "audio/mpeg": "MP3",
  "video/quicktime": "MOV",
  "application/msword": "Word",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
  "application/vnd.ms-excel": "Excel",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
  "application/vnd.ms-powerpoint": "PowerPoint",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
};

/** `PNG` for `image/png`. A type with a longer name stays whole, for its short form would say nothing. */
function nameType(type: string): string {
  const [, name] = /^(?:image|video|audio|text|application)\/([a-z\d]{2,4})$/.exec(type) ?? [];
  return typeNames[type] ?? name?.toUpperCase() ?? type;
}

/** The page of an upload link. `upload.js` sends the files one by one. Without it, the browser sends the form. */
export function renderUploadBody({ filesLeft, maxBytes, types }: UploadOffer): string {
  const takesAll = types.length === 0 || types.includes("*/*");
  const many = filesLeft > 1;
  const count = many
    ? `Up to ${filesLeft} files of ${formatSize(maxBytes)} each`
    : `One file of up to ${formatSize(maxBytes)}`;
  const kinds = takesAll ? "" : ` Accepted: ${[...new Set(types.map(nameType))].join(", ")}.`;
  const accept = takesAll ? "" : ` accept="${escapeHtml(types.join(","))}"`;
  return `<main id="content" class="upload-page">
<h1>Upload ${many ? "files" : "a file"}</h1>
<p class="lead">${count}.${escapeHtml(kinds)}</p>
<form method="post" enctype="multipart/form-data" accept-charset="utf-8" data-upload data-files-left="${filesLeft}" data-max-bytes="${maxBytes}">
<input type="file" name="file" id="upload-files" aria-label="${many ? "Files" : "File"}"${many ? " multiple" : ""} required${accept}>
<label class="drop" for="upload-files" hidden>${drawIcon(cloudUploadIcon, "icon drop-icon")}<span><strong>Drop ${many ? "files" : "a file"} here</strong> or <u>browse</u></span></label>
<button class="button primary">Upload</button>
</form>
<ul class="sent" aria-label="Files"></ul>
<p role="status" class="visually-hidden"></p>
</main>`;
}
