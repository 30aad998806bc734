"use client";

import { UploadDropzone } from "@upstow/react";
import Link from "next/link";
import { useState } from "react";

export default function Page() {
  const [urls, setUrls] = useState<string[]>([]);
  return (
    <main>
      <h1>Upload an image</h1>
      <UploadDropzone route="image" onUploaded={({ file }) => setUrls((all) => [...all, file.url])} />
      <ul>
        {urls.map((url) => (
          <li key={url}>
            <a href={url}>{url}</a>
          </li>
        ))}
      </ul>
      <Link href="/images">All images</Link>
    </main>
  );
}
