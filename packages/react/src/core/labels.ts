import type { ItemStatus } from "./types.ts";

/** All built-in texts of the components. Pass your own to `UpstowProvider`. */
export interface Labels {
  chooseFile: string;
  chooseFiles: string;
  dropHere: string;
  dropNow: string;
  notAccepted: string;
  orDrop: string;
  cancel: string;
  retry: string;
  pause: string;
  resume: string;
  pauseAll: string;
  resumeAll: string;
  retryFailed: string;
  continue: string;
  discard: string;
  remove: string;
  start: string;
  clear: string;
  close: string;
  files: string;
  unfinished: string;
  total: string;
  offline: string;
  each: string;
  left: string;
  /** One file or all files are waiting for the rate limit for this time. */
  waiting: (time: string) => string;
  /** For screen readers, when the wait begins. */
  heldBack: (time: string) => string;
  upTo: (size: string) => string;
  atMost: (count: number) => string;
  added: (count: number) => string;
  uploaded: (name: string) => string;
  failed: (name: string, reason: string) => string;
  allDone: (count: number) => string;
  wrongType: (name: string) => string;
  tooLarge: (name: string, size: string) => string;
  isEmpty: (name: string) => string;
  /** Another file was chosen to continue this one. */
  otherFile: (name: string) => string;
  /** Progress of an unfinished upload, such as `63% of 16 MB`. */
  doneOf: (percent: string, size: string) => string;
  unreadable: (name: string) => string;
  status: Record<ItemStatus, string>;
  types: Record<string, string>;
}

const filesOf = (count: number) => `${count} ${count === 1 ? "file" : "files"}`;

export const defaultLabels: Labels = {
  chooseFile: "Choose a file",
  chooseFiles: "Choose files",
  dropHere: "Drop files here",
  dropNow: "Drop to upload",
  notAccepted: "These files are not accepted here",
  orDrop: "or drop them here",
  cancel: "Cancel",
  retry: "Retry",
  pause: "Pause",
  resume: "Resume",
  pauseAll: "Pause all",
  resumeAll: "Resume all",
  retryFailed: "Retry failed",
  continue: "Continue",
  discard: "Discard",
  remove: "Remove",
  start: "Upload",
  clear: "Clear finished",
  close: "Close",
  files: "Files",
  unfinished: "Unfinished uploads",
  total: "Total progress",
  offline: "You are offline. Uploads continue when you are back.",
  each: "each",
  left: "left",
  waiting: (time) => `Waiting ${time}: upload limit`,
  heldBack: (time) => `Upload limit reached. Uploads continue in ${time}.`,
  upTo: (size) => `up to ${size}`,
  atMost: (count) => `at most ${filesOf(count)}`,
  added: (count) => `${filesOf(count)} added.`,
  uploaded: (name) => `${name} uploaded.`,
  failed: (name, reason) => `${name} failed: ${reason}`,
  allDone: (count) => `All done: ${filesOf(count)} uploaded.`,
  wrongType: (name) => `${name} is not of an accepted type.`,
  tooLarge: (name, size) => `${name} is larger than ${size}.`,
  isEmpty: (name) => `${name} is empty.`,
  otherFile: (name) => `This is a different file. Select the original ${name} again.`,
  doneOf: (percent, size) => `${percent} of ${size}`,
  unreadable: (name) => `${name} could not be opened.`,
  status: {
    staged: "Ready",
    rejected: "Not accepted",
    queued: "Queued",
    preparing: "Starting",
    uploading: "Uploading",
    completing: "Finishing",
    waiting: "Waiting",
    paused: "Paused",
    done: "Uploaded",
    failed: "Failed",
    cancelled: "Cancelled",
  },
  types: {
    image: "Images",
    video: "Videos",
    audio: "Audio",
    text: "Text",
    "text/plain": "Text",
    "application/pdf": "PDF",
    "application/zip": "ZIP",
  },
};
