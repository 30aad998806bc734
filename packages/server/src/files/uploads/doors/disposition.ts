/** The file name in a Content-Disposition: `filename*` in UTF-8 before `filename`, which may be quoted. */
export function readDisposition(header: string | undefined): string | null {
  if (header === undefined) return null;
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const decoded = extended === undefined ? null : decode(extended);
  if (decoded !== null) return clean(decoded);
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(header)?.[1];
  if (quoted !== undefined) return clean(asUtf8(quoted.replaceAll(/\\(.)/g, "$1")));
  const plain = /;\s*filename\s*=\s*([^;\s"]+)/i.exec(header)?.[1];
  return plain === undefined ? null : clean(asUtf8(plain));
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Node reads headers as Latin-1, and browsers send UTF-8. */
function asUtf8(text: string): string {
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}

const clean = (name: string) => name.toWellFormed().replaceAll("\0", "");
