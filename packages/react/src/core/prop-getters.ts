import type { ButtonHTMLAttributes, HTMLAttributes, InputHTMLAttributes, RefObject } from "react";
import { hasFiles, readDroppedFiles } from "./dropped-files.ts";
import type { Labels } from "./labels.ts";
import type { Queue, UploadActions } from "./queue.ts";
import { isAccepted } from "./rules.ts";
import type { Rules, UploadItem, UploadList } from "./types.ts";

export type Drag = "accept" | "reject" | null;
export type ItemAction = keyof UploadActions;

type Attributes = HTMLAttributes<HTMLElement>;
type ButtonProps = Marked<ButtonHTMLAttributes<HTMLButtonElement>>;
type Marked<Props> = Props & { [name: `data-${string}`]: string | undefined };

export interface PropGetters {
  /** Accepts drops and pastes. */
  getRootProps(given?: Attributes): Marked<Attributes>;
  /** The same, and a click on anything but a control opens the file chooser. */
  getDropzoneProps(given?: Attributes): Marked<Attributes>;
  /** For the hidden `<input>`, which must be rendered somewhere. */
  getInputProps(): InputHTMLAttributes<HTMLInputElement> & { ref: RefObject<HTMLInputElement | null> };
  getButtonProps(given?: ButtonHTMLAttributes<HTMLButtonElement>): ButtonProps;
  /** For a button that acts on one file. */
  getActionProps(action: ItemAction, item: UploadItem): ButtonProps;
  /** For one file, or for all together. */
  getProgressProps(item?: UploadItem): Marked<Attributes>;
  /** For the element whose text is `announcement`. */
  getStatusProps(): Attributes;
  open(once?: { accept?: string; capture?: string; isFolder?: boolean }): void;
  /** Resumes an unfinished upload: reopens its file if the browser can, otherwise opens the file chooser. */
  continueUpload(id: string): void;
}

interface Parts {
  queue: Queue;
  input: RefObject<HTMLInputElement | null>;
  /** The purpose of the open file picker, if not adding files. */
  onChosen: RefObject<((file: File) => void) | null>;
  list: UploadList;
  rules: Rules;
  labels: Labels;
  drag: Drag;
  setDrag(drag: Drag): void;
  isDisabled: boolean;
}

const controls = "button, a, input, select, textarea, label, summary, video, audio, [data-us-control]";

export function createPropGetters(parts: Parts): PropGetters {
  const { queue, input, onChosen, list, rules, labels, drag, setDrag, isDisabled } = parts;
  const accept = rules.allowedTypes.join(",");
  const isMultiple = rules.maxFileCount !== 1;

  /** During a drag, types are known but names are not. */
  function judge(data: DataTransfer): Drag {
    const types = [...data.items].filter(({ kind }) => kind === "file").map(({ type }) => type);
    const isFine = types.some((type) => type === "" || isAccepted(rules.allowedTypes, type));
    return isDisabled || (types.length > 0 && !isFine) ? "reject" : "accept";
  }

  const open: PropGetters["open"] = (once = {}) => openFor(once, null);

  const openFor = (once: Parameters<PropGetters["open"]>[0] & object, chosen: typeof onChosen.current) => {
    const element = input.current;
    if (element === null || isDisabled) return;
    onChosen.current = chosen;
    element.multiple = isMultiple && chosen === null;
    element.accept = once.accept ?? accept;
    if (once.capture === undefined) element.removeAttribute("capture");
    else element.setAttribute("capture", once.capture);
    element.toggleAttribute("webkitdirectory", once.isFolder ?? false);
    element.click();
  };

  const getRootProps: PropGetters["getRootProps"] = (given = {}) => ({
    ...given,
    "data-us-root": "",
    "data-state": list.status,
    "data-drag": drag ?? undefined,
    "data-disabled": isDisabled ? "" : undefined,
    onDragEnter(event) {
      given.onDragEnter?.(event);
      if (hasFiles(event.dataTransfer)) setDrag(judge(event.dataTransfer));
    },
    onDragOver(event) {
      given.onDragOver?.(event);
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = isDisabled ? "none" : "copy";
    },
    onDragLeave(event) {
      given.onDragLeave?.(event);
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDrag(null);
    },
    onDrop(event) {
      given.onDrop?.(event);
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      event.stopPropagation();
      setDrag(null);
      void readDroppedFiles(event.dataTransfer).then(({ files, unreadable }) => queue.add(files, unreadable));
    },
    onPaste(event) {
      given.onPaste?.(event);
      const { files } = event.clipboardData;
      if (files.length === 0) return;
      event.preventDefault();
      event.stopPropagation();
      queue.add(files);
    },
  });

  return {
    open,
    async continueUpload(id) {
      if (await queue.continueUpload(id)) return;
      openFor({}, (file) => void queue.continueUpload(id, file));
    },
    getRootProps,
    getDropzoneProps: (given = {}) =>
      getRootProps({
        ...given,
        onClick(event) {
          given.onClick?.(event);
          if ((event.target as Element).closest(controls) === null) open();
        },
      }),
    getInputProps: () => ({
      ref: input,
      type: "file",
      hidden: true,
      multiple: isMultiple,
      accept: accept === "" ? undefined : accept,
      disabled: isDisabled,
      onChange({ currentTarget }) {
        const files = [...(currentTarget.files ?? [])];
        // Selecting the same file again must trigger a change event.
        currentTarget.value = "";
        const [first] = files;
        if (first === undefined) return;
        if (onChosen.current === null) queue.add(files);
        else onChosen.current(first);
        onChosen.current = null;
      },
    }),
    getButtonProps: (given = {}) => ({
      type: "button",
      disabled: isDisabled,
      "data-state": list.status,
      "data-us-choose": "",
      ...given,
      onClick(event) {
        given.onClick?.(event);
        if (!event.defaultPrevented) open();
      },
    }),
    getActionProps: (action, item) => actionProps(queue, labels, action, item),
    getProgressProps: (item) => progressProps(item ?? list, item?.file.name ?? labels.total),
    getStatusProps: () => ({ role: "status", "aria-live": "polite" }),
  };
}

export function actionProps(
  actions: UploadActions,
  labels: Labels,
  action: ItemAction,
  item: UploadItem,
): ButtonProps {
  return {
    type: "button",
    "aria-label": `${labels[action]} ${item.file.name}`,
    "data-action": action,
    onClick: () => actions[action](item.id),
  };
}

export function progressProps(of: { progress: number; status: string }, label: string): Marked<Attributes> {
  return {
    role: "progressbar",
    "aria-label": label,
    "aria-valuemin": 0,
    "aria-valuemax": 100,
    "aria-valuenow": Math.round(of.progress * 100),
    "data-state": of.status,
    ...progressStyle(of.progress),
  };
}

/**
 * `--us-progress` for style sheets. Absent at zero, so that server-rendered markup has no style attribute, which a
 * strict Content-Security-Policy would block; styles set later by script are allowed.
 */
export function progressStyle(progress: number): Pick<Attributes, "style"> {
  if (progress === 0) return {};
  return { style: { "--us-progress": progress.toFixed(4) } as Attributes["style"] } as Pick<
    Attributes,
    "style"
  >;
}
