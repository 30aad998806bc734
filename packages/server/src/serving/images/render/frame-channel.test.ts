import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import {
  createFrameReader,
  createReusedMemory,
  type Frame,
  readFrames,
  writeFrame,
} from "./frame-channel.ts";

const anyFrame = fc.record({ header: fc.jsonValue(), bytes: fc.uint8Array({ maxLength: 300 }) });

function serialize(frames: { header: unknown; bytes: Uint8Array }[]): Buffer {
  const wire = new PassThrough({ highWaterMark: 1024 ** 2 });
  for (const { header, bytes } of frames) writeFrame(wire, header, bytes);
  return (wire.read() as Buffer | null) ?? Buffer.alloc(0);
}

test("frames survive any cutting of the stream, with fresh and with reused memory", () => {
  fc.assert(
    fc.property(
      fc.array(anyFrame, { maxLength: 5 }),
      fc.integer({ min: 1, max: 64 }),
      fc.boolean(),
      (frames, stepBytes, reuse) => {
        const received: Frame[] = [];
        const reader = createFrameReader(
          ({ header, bytes }) => received.push({ header, bytes: Buffer.from(bytes) }),
          reuse ? createReusedMemory(100) : Buffer.alloc,
        );
        const wire = serialize(frames);
        for (let at = 0; at < wire.length; ) {
          const copiedBytes = wire.copy(reader.nextTarget(), 0, at, Math.min(at + stepBytes, wire.length));
          reader.filled(copiedBytes);
          at += copiedBytes;
        }
        const expected = frames.map(({ header, bytes }) => ({
          header: JSON.parse(JSON.stringify(header)),
          bytes: Buffer.from(bytes),
        }));
        assert.deepEqual(received, expected);
      },
    ),
  );
});

test("memory is reused up to its limit and never handed out too small", () => {
  const getMemory = createReusedMemory(1000);
  const first = getMemory(800);
  assert.equal(getMemory(10).buffer, first.buffer);
  assert.equal(getMemory(10).length, 10);
  assert.notEqual(getMemory(5000).buffer, first.buffer);
  assert.equal(getMemory(5000).length, 5000);
  assert.equal(getMemory(800).buffer, first.buffer);
});

const nonsense = {
  "a length beyond all bounds": Buffer.from("ffffffffffffffff7b7d", "hex"),
  "a header that is not JSON": Buffer.from("0200000000000000407d", "hex"),
};
for (const [name, bytes] of Object.entries(nonsense)) {
  test(`${name} ends the stream with an error`, async () => {
    const stream = new PassThrough();
    const frames: Frame[] = [];
    readFrames(stream, (frame) => frames.push(frame));
    stream.write(bytes);
    const [error] = await once(stream, "error");
    assert.ok(error instanceof Error);
    assert.deepEqual(frames, []);
  });
}
