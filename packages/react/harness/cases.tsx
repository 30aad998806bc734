import {
  AttachmentTray,
  AvatarUpload,
  ButtonSplit,
  DropzoneTerminal,
  FileList,
  NotificationPanel,
  PrivateImage,
  SourceTabs,
  UploadDropzone,
  UploadField,
  UpstowImage,
  UpstowProvider,
  usePrivateUrl,
  useUpload,
  useUploader,
} from "@upstow/react";
import type { ImageFile } from "@upstow/sdk/images";
import { type ComponentType, useEffect, useState } from "react";

function fail(): never {
  throw new Error("The callback's own mistake.");
}

function AddButton() {
  const uploader = useUploader();
  const file = () => new File(["hello"], "own.txt", { type: "text/plain" });
  return (
    <button type="button" onClick={() => uploader.add("files", [file()])}>
      Add
    </button>
  );
}

function List() {
  const upload = useUpload({ route: "files" });
  return (
    <>
      <UploadDropzone upload={upload} hasList={false} />
      <FileList upload={upload} />
    </>
  );
}

function StagedField() {
  const upload = useUpload({ route: "files", autoStart: false });
  return (
    <form action="/apply">
      <UploadField upload={upload} name="documents" label="Documents" />
      <button type="button" onClick={() => upload.start()}>
        Upload
      </button>
    </form>
  );
}

function PrivateLink() {
  const [isShown, setIsShown] = useState(true);
  return (
    <>
      <button type="button" onClick={() => setIsShown(!isShown)}>
        Toggle
      </button>
      {isShown && <LinkToFile />}
    </>
  );
}

function LinkToFile() {
  const { url, status, error, renew } = usePrivateUrl("first", { headers: { authorization: "Bearer ann" } });
  return (
    <p data-status={status}>
      <a href={url ?? undefined}>{error?.code ?? "Read"}</a>
      <button type="button" onClick={renew}>
        Renew
      </button>
    </p>
  );
}

/** Of a file that the test has stored. */
function ImageFromPage() {
  const [file, setFile] = useState<ImageFile | null>(null);
  useEffect(() => void Object.assign(globalThis, { showImage: setFile }), []);
  return file === null ? null : <UpstowImage file={file} alt="From the page" width={300} />;
}

/** The picture in use, and one that nobody may read without a link. */
function KnownImages() {
  const [file, setFile] = useState<ImageFile | null>(null);
  useEffect(() => void Object.assign(globalThis, { showImage: setFile }), []);
  return (
    <>
      <AvatarUpload route="images" file={file} alt="Ann" />
      {file !== null && <PrivateImage fileKey="first" alt="Known" image={file.image ?? null} width={300} />}
    </>
  );
}

function PrivateFallback() {
  const [errors, setErrors] = useState<string[]>([]);
  return (
    <>
      <PrivateImage
        fileKey="first"
        alt="Invoice"
        fallback={<strong>Ask Ann for it</strong>}
        onError={({ message }) => setErrors((before) => [...before, message])}
      />
      <output>{errors.join(" | ")}</output>
    </>
  );
}

/** Uses that have to be tested and that no example of the catalogue shows. */
export const cases: Record<string, ComponentType> = {
  "inside-form": () => (
    <form action="/apply">
      <SourceTabs route="files" sources={["link"]} />
      <DropzoneTerminal route="files" />
    </form>
  ),
  "failing-callbacks": () => (
    <UploadDropzone route="files" onAdded={fail} onUploaded={fail} onFailed={fail} onAllDone={fail} />
  ),
  "providers-uploader": () => (
    <>
      <AddButton />
      <NotificationPanel />
    </>
  ),
  "tray-of-pictures": () => <AttachmentTray route="files" accept={[".png"]} maxTotalSize={25_000} />,
  "browsers-locale": () => (
    <UpstowProvider>
      <UploadDropzone route="files" maxFileSize={1.5 * 1024 * 1024} />
      <List />
    </UpstowProvider>
  ),
  "own-words": () => (
    <UpstowProvider labels={{ pauseAll: "Alle anhalten", resumeAll: "Alle fortsetzen" }}>
      <List />
    </UpstowProvider>
  ),
  "image-from-page": ImageFromPage,
  "known-images": KnownImages,
  "own-list": List,
  "private-link": PrivateLink,
  "private-images": () => (
    <>
      <PrivateImage fileKey="first" alt="One" />
      <PrivateImage fileKey="first" alt="The same" />
      <PrivateImage fileKey="second" alt="Another" width={120} height={80} />
    </>
  ),
  "private-lazy": () => (
    <>
      <div className="tall" />
      <PrivateImage fileKey="first" alt="Far below" width={240} height={160} loading="lazy" />
    </>
  ),
  "private-fallback": PrivateFallback,
  "staged-field": StagedField,
  "split-single": () => <ButtonSplit route="files" maxFileCount={1} />,
};
