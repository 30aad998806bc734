/** Bytes that are changed where they are, so that a file keeps its size. Knows whether any of them became another. */
export class Patch {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  isChanged = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  put(at: number, values: ArrayLike<number>): void {
    for (let i = 0; i < values.length && at + i < this.bytes.length; i++) {
      if (this.bytes[at + i] === values[i]) continue;
      this.bytes[at + i] = values[i] ?? 0;
      this.isChanged = true;
    }
  }

  clear(start: number, end: number): void {
    const stretch = this.bytes.subarray(start, end);
    if (stretch.every((byte) => byte === 0)) return;
    stretch.fill(0);
    this.isChanged = true;
  }

  startsWith(at: number, text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.bytes[at + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  /** Letters of `text` are lower case, and found in either case. */
  includes(start: number, end: number, text: string): boolean {
    const last = Math.min(end, this.bytes.length) - text.length;
    for (let at = start; at <= last; at++) {
      let i = 0;
      while (i < text.length && lower(this.bytes[at + i] ?? 0) === text.charCodeAt(i)) i++;
      if (i === text.length) return true;
    }
    return false;
  }

  /** Where the exact text begins, or -1. */
  indexOf(start: number, end: number, text: string): number {
    for (let at = start; at + text.length <= end; at++) if (this.startsWith(at, text)) return at;
    return -1;
  }

  /** In UTF-8 or UTF-16. */
  namesGps(start: number, end: number): boolean {
    return this.includes(start, end, "gps") || this.includes(start, end, "g\0p\0s");
  }
}

const lower = (byte: number) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);
