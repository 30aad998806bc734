import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots, wholeUsage } from "./props.ts";

const words = (type: string) => prop("words", type, "Custom labels.");

export const specialty: CatalogueEntry[] = [
  {
    name: "AvatarUpload",
    slug: "avatar-upload",
    category: "specialty",
    description: "A round image: select, crop, upload. Only the visible part is sent.",
    keywords: ["avatar", "profile", "crop", "zoom", "photo", "round", "square"],
    props: [
      ...sharedProps("autoStart", "maxFileCount"),
      prop("src", "string", "URL of the current image."),
      prop(
        "file",
        "{ url: string; image?: ImageFacts | null } | null",
        "Instead of `src`, the file as the API returns it: shown as a thumbnail, with its placeholder until it has loaded.",
      ),
      prop("alt", "string", "Text alternative for the image."),
      prop("sizePx", "number", "Side length of the uploaded image in pixels.", { default: "512" }),
      words(
        "{ change?: string; move?: string; zoom?: string; save?: string; back?: string; unreadable?: string }",
      ),
      slots("root", "picture", "button"),
    ],
    usage: wholeUsage(
      ["AvatarUpload"],
      `  return <AvatarUpload route="images" sizePx={256} onUploaded={({ file }) => console.log(file.url)} />;`,
    ),
  },
  {
    name: "ChatAttachments",
    slug: "chat-attachments",
    category: "specialty",
    description:
      "A message box that accepts files by button, drop and paste, and waits for uploads before it sends.",
    keywords: ["chat", "message", "composer", "attachments", "inline", "slack", "paste"],
    props: [
      ...sharedProps(),
      prop(
        "onSend",
        "(message: { text: string; files: UploadedFile[] }) => void",
        "Called when all files are uploaded.",
      ),
      prop("placeholder", "string", "Shown while the box is empty.", { default: '"Write a message"' }),
      words("{ attach?: string; send?: string; message?: string; waiting?: string }"),
      slots("root", "chips", "chip", "input", "send"),
    ],
    usage: wholeUsage(
      ["ChatAttachments"],
      `  return <ChatAttachments route="files" onSend={({ text, files }) => console.log(text, files.length)} />;`,
    ),
  },
  {
    name: "AttachmentTray",
    slug: "attachment-tray",
    category: "specialty",
    description: "A collapsible bar of attachments under an editor, limited to a total size.",
    keywords: ["tray", "attachments", "email", "limit", "total size", "quota", "dock"],
    props: [
      ...sharedProps(),
      prop("maxTotalSize", "number", "Maximum size of all attachments together, in bytes."),
      words("{ attach?: string; attachments?: string; full?: (name: string) => string }"),
      slots("root", "bar", "chips", "chip"),
    ],
    usage: simpleUsage("AttachmentTray", "maxTotalSize={25 * 1024 * 1024}"),
  },
  {
    name: "NotificationPanel",
    slug: "notification-panel",
    category: "specialty",
    description:
      "Floats in a corner and shows all of the provider's uploads, whichever component started them.",
    keywords: ["toast", "notification", "floating", "background", "google drive", "corner", "global"],
    props: [
      prop("warnsBeforeLeaving", "boolean", "Asks for confirmation before leaving the page during uploads.", {
        default: "true",
      }),
      words("{ title?: string; fold?: string; unfold?: string }"),
      slots("root", "head", "list", "item"),
    ],
    usage: wholeUsage(
      ["NotificationPanel", "UploadButton"],
      `  return (
    <>
      <UploadButton route="files" hasDetails={false} />
      <NotificationPanel />
    </>
  );`,
    ),
  },
  {
    name: "SourceTabs",
    slug: "source-tabs",
    category: "specialty",
    description: "Files from the device, the camera, the clipboard or a link, in tabs.",
    keywords: ["tabs", "sources", "camera", "webcam", "clipboard", "url", "link", "import", "filestack"],
    props: [
      ...sharedProps(),
      prop(
        "sources",
        'readonly ("device" | "camera" | "clipboard" | "link")[]',
        "Which tabs, in this order.",
        {
          default: "all four",
        },
      ),
      prop(
        "fetchLink",
        "(url: string) => Promise<File>",
        "Fetches a link as a file; default: the browser does.",
      ),
      words("Record<string, string>"),
      slots("root", "tabs", "tab", "panel", "list", "item"),
    ],
    usage: simpleUsage("SourceTabs"),
  },
  {
    name: "UploadFromUrl",
    slug: "upload-from-url",
    category: "specialty",
    description: "The service fetches a file from a URL. Shows progress and can be cancelled.",
    keywords: ["url", "link", "import", "fetch", "remote", "paste"],
    props: [
      prop("route", "string", "A route of your backend's file router with `fromUrl: true`.", {
        isRequired: true,
      }),
      prop("input", "unknown", "Sent along to the route, if it asks for something."),
      prop("isDisabled", "boolean", "Accepts no URL.", { default: "false" }),
      prop("onUploaded", "({ file }) => void", "Called once your backend has confirmed the file."),
      prop("onFailed", "({ error }) => void", "Called when the URL is rejected or its import fails."),
      words(
        "{ address?: string; fetch?: string; cancel?: string; fetching?: string; done?: (name: string) => string }",
      ),
      slots("root", "input", "button", "track"),
    ],
    usage: simpleUsage("UploadFromUrl"),
  },
  {
    name: "UploadWizard",
    slug: "upload-wizard",
    category: "specialty",
    description: "Select, review and rename, upload, done: one step at a time.",
    keywords: ["wizard", "steps", "stepper", "guided", "rename", "review"],
    props: [
      ...sharedProps("autoStart"),
      words("{ choose?: string; review?: string; send?: string; done?: string; … }"),
      slots("root", "steps", "body", "list", "item"),
    ],
    usage: simpleUsage("UploadWizard"),
  },
];
