import { UpstowImage } from "@upstow/react";
import { createUpstow } from "@upstow/sdk";
import { thumbHashToDataUrl } from "@upstow/sdk/images";
import Image from "next/image";

export const metadata = { title: "Images" };
// What was uploaded last is known only when somebody asks.
export const dynamic = "force-dynamic";

export default async function ImagesPage() {
  // Reads UPSTOW_URL and UPSTOW_API_KEY from the environment.
  const upstow = createUpstow();
  const { files } = await upstow.files.list({
    type: "image/*",
    status: "UPLOADED",
    include: "image",
    limit: 12,
  });
  const [latest, ...others] = files.filter(({ image }) => image !== null);
  return (
    <main>
      <h1>Uploaded images</h1>
      {latest !== undefined && (
        <UpstowImage file={latest} alt={latest.name} sizes="(max-width: 40em) 100vw, 40em" loading="eager" />
      )}
      <ul>
        {others.map(({ id, name, url, image }) => (
          <li key={id}>
            <Image
              src={url}
              alt={name}
              width={320}
              height={Math.round((320 * (image?.height ?? 1)) / (image?.width ?? 1))}
              placeholder={thumbHashToDataUrl(image?.thumbhash ?? "") ?? "empty"}
            />
          </li>
        ))}
      </ul>
    </main>
  );
}
