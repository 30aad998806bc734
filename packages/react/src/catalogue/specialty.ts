import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots, wholeUsage } from "./props.ts";

const words = (type: string) => prop("words", type, "Your own words.");

export const specialty: CatalogueEntry[] = [
  {
    name: "AvatarUpload",
    slug: "avatar-upload",
    category: "specialty",
    description: "A round picture: choose, crop, upload. Only the part that is seen is sent.",
    keywords: ["avatar", "profile", "crop", "zoom", "photo", "round", "square"],
    props: [
      ...sharedProps("autoStart", "maxFileCount"),
      prop("src", "string", "The URL of the picture that is in use now."),
      prop(
        "file",
        "{ url: string; image?: ImageFacts | null } | null",
        "Instead of `src`, the file as the API returns it: shown as a thumbnail, with its placeholder until it has loaded.",
      ),
      prop("alt", "string", "What the picture shows, for those who cannot see it."),
      prop("sizePx", "number", "Pixels on each side of what is uploaded.", { default: "512" }),
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
      "A message box that takes files by button, drop and paste; sent too early, it waits for them.",
    keywords: ["chat", "message", "composer", "attachments", "inline", "slack", "paste"],
    props: [
      ...sharedProps(),
      prop(
        "onSend",
        "(message: { text: string; files: UploadedFile[] }) => void",
        "With everything uploaded.",
      ),
      prop("placeholder", "string", "Shown while nothing is written.", { default: '"Write a message"' }),
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
    description:
      "A bar under an editor that folds its attachments away and keeps them within what a mail can carry.",
    keywords: ["tray", "attachments", "email", "limit", "total size", "quota", "dock"],
    props: [
      ...sharedProps(),
      prop("maxTotalSize", "number", "Bytes that all attachments together may have."),
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
      "Floats in a corner and shows every upload of the provider, whichever page or component began it.",
    keywords: ["toast", "notification", "floating", "background", "google drive", "corner", "global"],
    props: [
      prop("warnsBeforeLeaving", "boolean", "Asks before the page is left while uploads are in progress.", {
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
    description: "Files from the device, the camera, the clipboard or a link, one tab for each.",
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
        "How a link becomes a file; by the browser unless given.",
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
    description: "The service fetches a URL by itself. Shows progress, and stops when asked to.",
    keywords: ["url", "link", "import", "fetch", "remote", "paste"],
    props: [
      prop("route", "string", "A route of your backend's file router with `fromUrl: true`.", {
        isRequired: true,
      }),
      prop("input", "unknown", "Sent along to the route, if it asks for something."),
      prop("isDisabled", "boolean", "Takes no URL.", { default: "false" }),
      prop("onUploaded", "({ file }) => void", "Once your backend has confirmed the file."),
      prop("onFailed", "({ error }) => void", "When the URL is rejected or its import fails."),
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
    description: "Choose, look it over and rename, upload, done: one step at a time.",
    keywords: ["wizard", "steps", "stepper", "guided", "rename", "review"],
    props: [
      ...sharedProps("autoStart"),
      words("{ choose?: string; review?: string; send?: string; done?: string; … }"),
      slots("root", "steps", "body", "list", "item"),
    ],
    usage: simpleUsage("UploadWizard"),
  },
];
