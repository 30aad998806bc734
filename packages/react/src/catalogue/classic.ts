import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots, wholeUsage } from "./props.ts";

const emptyText = prop("emptyText", "string", "Shown while the list is empty.");
const upload = prop("upload", "Upload", "What `useUpload` returned.", { isRequired: true });

export const classic: CatalogueEntry[] = [
  {
    name: "UploadButton",
    slug: "upload-button",
    category: "classic",
    description: "A button that selects files and shows their progress; the smallest component.",
    keywords: ["button", "simple", "choose", "browse", "input", "uploadthing"],
    props: [
      ...sharedProps(),
      prop("children", "ReactNode", "The button's label when idle."),
      prop("hasDetails", "boolean", "False shows only the button.", { default: "true" }),
      slots("root", "button", "progress", "details"),
    ],
    usage: simpleUsage("UploadButton"),
  },
  {
    name: "UploadDropzone",
    slug: "upload-dropzone",
    category: "classic",
    description:
      "An area to drop files, with a button and a list of the selected files. Start with this one.",
    keywords: ["drag", "drop", "area", "list", "default", "react-dropzone"],
    props: [
      ...sharedProps(),
      prop("title", "ReactNode", "The line above the button."),
      prop("hasList", "boolean", "False hides the list, for example to show a FileList elsewhere.", {
        default: "true",
      }),
      slots("root", "area", "title", "button", "hint", "list", "item"),
    ],
    usage: simpleUsage("UploadDropzone"),
  },
  {
    name: "UploadModal",
    slug: "upload-modal",
    category: "classic",
    description:
      "A dialog with a dropzone; uploads continue when it is closed, and its button shows the progress.",
    keywords: ["dialog", "popup", "overlay", "modal", "uppy dashboard"],
    props: [
      ...sharedProps(),
      prop("children", "ReactNode", "The label of the button that opens it."),
      prop("title", "ReactNode", "The dialog's heading."),
      slots("root", "trigger", "dialog", "title"),
    ],
    usage: simpleUsage("UploadModal", 'title="Add to the album"', "Add photos"),
  },
  {
    name: "FileList",
    slug: "file-list",
    category: "classic",
    description:
      "All files in a list, with pause, retry and clear for all of them. Works with any other component.",
    keywords: ["list", "rows", "queue", "bulk", "pause all", "retry all"],
    props: [upload, emptyText, slots("root", "head", "list", "item")],
    usage: wholeUsage(
      ["FileList", "UploadButton", "useUpload"],
      `  const upload = useUpload({ route: "files" });
  return (
    <>
      <UploadButton upload={upload} hasDetails={false} />
      <FileList upload={upload} />
    </>
  );`,
    ),
  },
  {
    name: "FilePreview",
    slug: "file-preview",
    category: "classic",
    description: "Shows one file at a time: images, video, audio, and the first lines of text.",
    keywords: ["preview", "lightbox", "image", "video", "audio", "text", "carousel"],
    props: [upload, emptyText, slots("root", "stage", "caption")],
    usage: wholeUsage(
      ["FilePreview", "UploadButton", "useUpload"],
      `  const upload = useUpload({ route: "files" });
  return (
    <>
      <FilePreview upload={upload} />
      <UploadButton upload={upload} hasDetails={false} />
    </>
  );`,
    ),
  },
  {
    name: "UploadField",
    slug: "upload-field",
    category: "classic",
    description:
      "A form field: submits the IDs of uploaded files, and blocks the form until all uploads are done.",
    keywords: ["form", "field", "input", "required", "validation", "submit", "hidden input"],
    props: [
      ...sharedProps(),
      prop("name", "string", "The field's name in the form.", { isRequired: true }),
      prop("label", "ReactNode", "The field's label.", { isRequired: true }),
      prop("value", '"id" | "key" | "url"', "The value submitted for each file.", { default: '"id"' }),
      prop("isRequired", "boolean", "The form can't be submitted without a file.", { default: "false" }),
      prop("messages", "{ missing?: string; waiting?: string }", "The browser's validation messages."),
      slots("root", "label", "button", "hint", "list", "item"),
    ],
    usage: wholeUsage(
      ["UploadField"],
      `  return (
    <form action="/apply">
      <UploadField route="files" name="documents" label="Documents" isRequired />
      <button type="submit">Send</button>
    </form>
  );`,
    ),
  },
];
