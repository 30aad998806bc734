import { FILE_NAME_MAX, type FileObject, URL_MAX } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { useWorkspace } from "../../workspace.ts";

interface AddFromUrlProps {
  slugs: string[];
  onStarted: (file: FileObject) => void;
}

/** The service fetches the file itself; the file's panel shows how far it has come. */
export function AddFromUrl({ slugs, onStarted }: AddFromUrlProps) {
  const { api } = useWorkspace();
  const [url, setUrl] = useState("");
  const [fileName, setFileName] = useState("");
  const [routeSlug, setRouteSlug] = useState(slugs.includes("default") ? "default" : (slugs[0] ?? ""));
  const submit = async () => {
    const name = fileName.trim() === "" ? {} : { fileName: fileName.trim() };
    const body = { url, routeSlug, ...name };
    onStarted((await callApi<{ file: FileObject }>("POST", `${api}/upload/import`, body)).file);
  };
  return (
    <Form submit="Add file" onSubmit={submit}>
      <Field
        label="URL"
        hint="Public HTTPS URL. The file is fetched in the background."
        type="url"
        placeholder="https://example.com/photo.jpg"
        maxLength={URL_MAX}
        value={url}
        onChange={setUrl}
      />
      <Field
        label="File name"
        hint="Taken from the URL if left empty."
        required={false}
        maxLength={FILE_NAME_MAX}
        value={fileName}
        onChange={setFileName}
      />
      <Choice label="Route" options={slugs} value={routeSlug} onChange={setRouteSlug} />
    </Form>
  );
}
