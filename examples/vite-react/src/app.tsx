import { useUpload } from "@upstow/react";

export function App() {
  const upload = useUpload({ route: "file" });
  return (
    <main {...upload.getRootProps()}>
      <h1>Upload files</h1>
      <input {...upload.getInputProps()} />
      <button {...upload.getButtonProps()}>Choose files, or drop them anywhere</button>
      <ul>
        {upload.items.map((item) => (
          <li key={item.id}>
            {item.file.name}: {item.error?.message ?? item.status} <progress value={item.progress} />
            {item.status === "uploading" && <button {...upload.getActionProps("pause", item)}>Pause</button>}
            {item.status === "paused" && <button {...upload.getActionProps("resume", item)}>Resume</button>}
            {item.status === "failed" && <button {...upload.getActionProps("retry", item)}>Retry</button>}
            {item.uploaded && <a href={item.uploaded.result.url}>{item.uploaded.result.url}</a>}
          </li>
        ))}
      </ul>
      <p {...upload.getStatusProps()}>{upload.announcement}</p>
    </main>
  );
}
