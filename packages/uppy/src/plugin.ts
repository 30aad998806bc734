import {
  BasePlugin,
  type Body,
  type Meta,
  type PluginOpts,
  type State,
  type Uppy,
  type UppyFile,
} from "@uppy/core";
import {
  createUploader,
  type UploadedFile,
  type Uploader,
  type UploaderOptions,
  type UploadState,
  type UploadTask,
  UpstowError,
} from "@upstow/sdk/client";
import { Imports, urlOf } from "./imports.ts";

/** All options of the SDK's uploader, and where files go. */
export interface UpstowOptions<M extends Meta = Meta, B extends Body = Body>
  extends PluginOpts,
    UploaderOptions {
  /** The route of your backend's file router. */
  route: string;
  /** The route's `input`; a function is called for every file. */
  input?: unknown | ((file: UppyFile<M, B>) => unknown);
}

type Task = UploadTask<unknown>;

/** Uploads Uppy's files through your backend's route handler: in parts, with pause, resume and cancel. */
export class Upstow<M extends Meta, B extends Body> extends BasePlugin<UpstowOptions<M, B>, M, B> {
  #uploader: Uploader | null = null;
  /** By the id that Uppy gave the file; a file that is stored has none any more, and may be uploaded again. */
  readonly #tasks = new Map<string, Task>();
  readonly #imports: Imports<M, B>;
  #isHeldBack = false;
  readonly #uninstallers: (() => void)[] = [];

  constructor(uppy: Uppy<M, B>, options: UpstowOptions<M, B>) {
    super(uppy, options);
    this.type = "uploader";
    this.id = options.id ?? "Upstow";
    this.#imports = new Imports(uppy);
  }

  override install(): void {
    const { uppy } = this;
    this.#uploader = createUploader(this.opts);
    this.#setResumable(true);
    uppy.addUploader(this.#upload);
    const onPause = (file: UppyFile<M, B> | undefined, isPaused: boolean) => {
      const task = this.#tasks.get(file?.id ?? "");
      if (isPaused) task?.pause();
      else task?.resume();
    };
    const onPauseAll = () => this.#uploader?.pause();
    const onResumeAll = () => this.#uploader?.resume();
    // `uppy.clear()`, which the Dashboard's "Done" calls, emits no event.
    const onState = (before: State<M, B>, { files }: State<M, B>) => {
      if (files === before.files) return;
      for (const id of this.#tasks.keys()) if (files[id] === undefined) this.#remove(id);
      this.#imports.keepOnly(files);
    };
    uppy.on("upload-pause", onPause);
    uppy.on("pause-all", onPauseAll);
    uppy.on("resume-all", onResumeAll);
    uppy.on("state-update", onState);
    this.#uninstallers.push(
      () => uppy.removeUploader(this.#upload),
      () => uppy.off("upload-pause", onPause),
      () => uppy.off("pause-all", onPauseAll),
      () => uppy.off("resume-all", onResumeAll),
      () => uppy.off("state-update", onState),
      this.#uploader.subscribe(() => this.#report()),
    );
  }

  override uninstall(): void {
    for (const uninstall of this.#uninstallers.splice(0)) uninstall();
    this.#setResumable(false);
    this.#imports.keepOnly({});
    this.#uploader?.destroy();
    this.#uploader = null;
    this.#tasks.clear();
  }

  #setResumable(resumableUploads: boolean): void {
    const { capabilities } = this.uppy.getState();
    this.uppy.setState({ capabilities: { ...capabilities, resumableUploads } });
  }

  readonly #upload = async (ids: string[]): Promise<void> => {
    const files = ids
      .map((id) => this.uppy.getFile(id))
      .filter((file) => file !== undefined && this.#isWithinReach(file));
    const here = files.filter((file) => urlOf(file) === null);
    const fresh = here.filter((file) => !this.#retry(file));
    this.uppy.emit("upload-start", files);
    this.#add(fresh);
    await Promise.all(
      files.map((file) => (urlOf(file) === null ? this.#settle(file.id) : this.#import(file))),
    );
  };

  /** The page can't send a remote provider's files, but the service can fetch those with a URL. */
  #isWithinReach(file: UppyFile<M, B>): boolean {
    const isWithinReach = file.data instanceof Blob || urlOf(file) !== null;
    const error = new Error("Files from remote providers cannot be uploaded.");
    if (!isWithinReach) this.uppy.emit("upload-error", file, error);
    return isWithinReach;
  }

  #inputFor(file: UppyFile<M, B>): unknown {
    const { input } = this.opts;
    return typeof input === "function" ? input(file) : input;
  }

  /** Whether a failed earlier attempt can be continued. */
  #retry({ id }: UppyFile<M, B>): boolean {
    const task = this.#tasks.get(id);
    task?.retry();
    return task !== undefined;
  }

  /** Files with the same input are announced to the backend together. */
  #add(files: UppyFile<M, B>[]): void {
    const { route, input } = this.opts;
    const batches = typeof input === "function" ? files.map((file) => [file]) : [files];
    for (const batch of batches) {
      const [first] = batch;
      if (first === undefined) continue;
      const given = this.#inputFor(first);
      const tasks = this.#uploader?.add(route, batch.map(toFile), { input: given, of: files.length }) ?? [];
      for (const [i, task] of tasks.entries()) this.#tasks.set(batch[i]?.id ?? "", task);
    }
  }

  /** Always resolves: Uppy is notified of the outcome through events. */
  async #settle(id: string): Promise<void> {
    const task = this.#tasks.get(id);
    try {
      const uploaded = await task?.done;
      const file = this.uppy.getFile(id);
      if (file === undefined || uploaded === undefined || this.#tasks.get(id) !== task) return;
      this.#tasks.delete(id);
      this.#uploader?.clear(task?.id);
      this.#succeed(file, uploaded);
    } catch (error) {
      const file = this.uppy.getFile(id);
      const isCancelled = error instanceof UpstowError && error.code === "CANCELLED";
      if (file !== undefined && !isCancelled) this.uppy.emit("upload-error", file, error as Error);
    }
  }

  async #import(file: UppyFile<M, B>): Promise<void> {
    const uploader = this.#uploader;
    const url = urlOf(file);
    if (uploader === null || url === null) return;
    const find = () => this.uppy.getFile(file.id);
    try {
      const wanted = { route: this.opts.route, url, input: this.#inputFor(file) };
      const uploaded = await this.#imports.fetch(uploader, file, wanted);
      if (uploaded !== null && find() !== undefined) this.#succeed(find(), uploaded);
    } catch (error) {
      if (find() !== undefined) this.uppy.emit("upload-error", find(), error as Error);
    }
  }

  #succeed(file: UppyFile<M, B>, uploaded: UploadedFile<unknown>): void {
    const body = { ...uploaded } as unknown as B;
    this.uppy.emit("upload-success", file, { status: 200, body, uploadURL: uploaded.url });
  }

  #remove(id: string): void {
    const task = this.#tasks.get(id);
    this.#tasks.delete(id);
    task?.cancel().then(() => this.#uploader?.clear(task.id));
  }

  /** Uppy has no state for it: people are told once when a wait begins. */
  #tellWait(): void {
    const uploads = this.#uploader?.getSnapshot().uploads ?? [];
    const seconds = uploads.reduce((most, { waitSeconds }) => Math.max(most, waitSeconds ?? 0), 0);
    if (seconds > 0 && !this.#isHeldBack)
      this.uppy.info(`Upload limit reached. Uploads continue in ${seconds} seconds.`, "info", seconds * 1000);
    this.#isHeldBack = seconds > 0;
  }

  #report(): void {
    this.#tellWait();
    for (const [id, task] of this.#tasks) {
      const file = this.uppy.getFile(id);
      const state = task.getState();
      if (file === undefined || !isUnderWay(state)) continue;
      this.uppy.emit("upload-progress", file, {
        uploadStarted: file.progress.uploadStarted ?? Date.now(),
        bytesUploaded: state.sentBytes,
        bytesTotal: state.totalBytes,
      });
    }
  }
}

const isUnderWay = ({ status }: UploadState) => status === "uploading" || status === "completing";

/** Under the name that the user gave it; the time stays, so that an upload is found again after a reload. */
function toFile<M extends Meta, B extends Body>({ data, meta, name, type }: UppyFile<M, B>): File {
  const { lastModified = 0 } = data as { lastModified?: number };
  return new File([data as Blob], meta.name ?? name ?? "file", { type: type ?? "", lastModified });
}
