import { gzipSync } from "node:zlib";

const blockBytes = 512;
// The time npm gives to every file it packs.
const mtimeSec = 499_162_500;

/**
 * A package as npm installs it. The same files give the same bytes on every machine: several instances serve one
 * version, and lockfiles hold its checksum. That is why nothing is compressed, which differs between processors.
 * @param {{ path: string, content: Buffer }[]} files paths inside the package
 */
export function packTarball(files) {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.flatMap(({ path, content }) => [
    header(`package/${path}`, content.length),
    content,
    Buffer.alloc(-content.length & (blockBytes - 1)),
  ]);
  const tarball = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 0 });
  // The operating system, which would otherwise be named here.
  tarball[9] = 255;
  return tarball;
}

/** As the ustar format lays it out. */
function header(path, size) {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for a tarball`);
  const block = Buffer.alloc(blockBytes);
  const number = (value, at, length) => block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  block.write(path, 0);
  number(0o644, 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  number(size, 124, 12);
  number(mtimeSec, 136, 12);
  block.write(" ".repeat(8), 148);
  block.write("0", 156);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
