import type { FileObject } from "@upstow/contract";
import { useState } from "react";
import { addressOf } from "../../address.ts";
import { formatBytes } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { goTo, Link, usePath, useQuery } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { CallSnippets } from "./call-snippets.tsx";
import { FocusPicker } from "./focus-picker.tsx";
import { ImagePicker } from "./image-picker.tsx";
import { KnobForm } from "./knob-form.tsx";
import { type OutputFormat, readKnobs, toBody, toStudioQuery } from "./knobs.ts";
import { PageSnippets } from "./page-snippets.tsx";
import { RenderView } from "./render-view.tsx";
import { useRenders } from "./use-renders.ts";

/** The image is part of the URL, so that it can be bookmarked and shared. */
export default function Studio() {
  const { environment, project } = useWorkspace();
  const path = usePath();
  const key = useQuery().get("key");
  if (environment === "test") {
    return (
      <>
        <h1>Image studio</h1>
        <Empty title="The studio needs a live file">
          <p>
            Test files are served at <code>/i/</code> like live ones, but the studio only works with live
            files. <Link to={addressOf(project.id, "live", "studio")}>Switch to live</Link>
          </p>
        </Empty>
      </>
    );
  }
  return (
    <>
      <div className="title">
        <h1>Image studio</h1>
        {key !== null && (
          <button type="button" onClick={() => goTo(path)}>
            Pick another image
          </button>
        )}
      </div>
      {key === null ? (
        <>
          <p className="dim">Pick an image, adjust it, copy the code.</p>
          <ImagePicker onPick={(picked) => goTo(`${path}?${new URLSearchParams({ key: picked })}`)} />
        </>
      ) : (
        <Bench key={key} imageKey={key} />
      )}
    </>
  );
}

function Bench({ imageKey }: { imageKey: string }) {
  const { api } = useWorkspace();
  const query = useQuery();
  const [knobs, setKnobs] = useState(() => readKnobs(query));
  const [looked, setLooked] = useState<OutputFormat>("webp");
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const file = useLoad<{ file: FileObject }>(`${api}/files/${encodeURIComponent(imageKey)}`);
  const focus = file.data?.file.focus;
  const renders = useRenders(
    api,
    toStudioQuery(imageKey, knobs),
    knobs.gravity === "focus" ? JSON.stringify(focus) : "",
  );
  const shown = knobs.format === "auto" ? looked : knobs.format;
  if (file.error !== null) return <Failure error={file.error} retry={file.reload} />;
  if (file.data === null) return <Loading />;
  const show = (format: OutputFormat) => {
    setLooked(format);
    if (knobs.format !== "auto") setKnobs({ ...knobs, format });
  };
  return (
    <>
      <p className="dim name">
        <SafeText text={file.data.file.name} />, {formatBytes(file.data.file.size)}
        {size !== null && ` → ${size.width} × ${size.height} pixels`}
      </p>
      {knobs.gravity === "focus" && (
        <FocusPicker key={file.data.file.id} file={file.data.file} onChanged={file.reload} />
      )}
      <div className="bench">
        <KnobForm
          knobs={knobs}
          isPrivate={file.data.file.access === "private"}
          onChange={(change) => setKnobs({ ...knobs, ...change })}
        />
        <RenderView
          renders={renders}
          shown={shown}
          originalBytes={file.data.file.size}
          onShow={show}
          onMeasured={setSize}
        />
      </div>
      {toStudioQuery(imageKey, knobs) === "" ? (
        <p className="notice">Enter a width or height from 1 to 4,096.</p>
      ) : (
        <>
          {file.data.file.access === "public" && (
            <PageSnippets file={file.data.file} body={toBody(imageKey, knobs)} />
          )}
          <CallSnippets body={toBody(imageKey, knobs)} size={size} />
        </>
      )}
    </>
  );
}
