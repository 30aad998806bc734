// `extension=subtype` where the two differ.
const subtypes: Record<string, string> = {
  image: "jpg=jpeg jpeg svg=svg+xml png gif webp avif heic",
  text: "txt=plain md=markdown js=javascript mjs=javascript htm=html html css csv",
  application: "gz=gzip pdf json xml zip wasm",
  video: "mov=quicktime mp4 webm",
  audio: "mp3=mpeg wav ogg",
};

/** For sources that have only a name. */
export function guessContentType(fileName: string): string | undefined {
  const extension = /\.(\w+)$/.exec(fileName)?.[1]?.toLowerCase();
  for (const [type, entries] of Object.entries(subtypes)) {
    for (const entry of entries.split(" ")) {
      const [name, subtype = name] = entry.split("=");
      if (name === extension) return `${type}/${subtype}`;
    }
  }
  return undefined;
}
