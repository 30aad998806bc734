import { crc32 } from "node:zlib";

/** A ZIP whose entries are stored, in the order given. */
export function makeZip(entries: Record<string, string | Buffer>, comment = ""): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content);
    const sizes = Buffer.alloc(14);
    sizes.writeUInt32LE(crc32(bytes), 0);
    sizes.writeUInt32LE(bytes.length, 4);
    sizes.writeUInt32LE(bytes.length, 8);
    sizes.writeUInt16LE(Buffer.byteLength(name), 12);
    const local = Buffer.concat([
      Buffer.from("PK\x03\x04\x14\0\0\0\0\0\0\0\0\0", "latin1"),
      sizes,
      Buffer.alloc(2),
    ]);
    const entry = Buffer.concat([
      Buffer.from("PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0", "latin1"),
      sizes,
      Buffer.alloc(16),
    ]);
    entry.writeUInt32LE(at, 42);
    parts.push(local, Buffer.from(name), bytes);
    directory.push(entry, Buffer.from(name));
    at += local.length + Buffer.byteLength(name) + bytes.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(Object.keys(entries).length, 8);
  end.writeUInt16LE(Object.keys(entries).length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  return Buffer.concat([...parts, listed, end, Buffer.from(comment)]);
}
