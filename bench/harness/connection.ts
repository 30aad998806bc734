import { connect, type Socket, type TcpNetConnectOpts } from "node:net";

/** An answer; `body` is empty where it was longer than what is kept, `bodyBytes` NaN where no length was given. */
export interface Answer {
  status: number;
  head: string;
  body: Buffer;
  bodyBytes: number;
}

/**
 * One keep-alive HTTP/1.1 connection, one request at a time. It takes a fraction of the CPU of a full client, so
 * that on a small machine the server is what is measured. A chunked body is read to its end and not kept.
 */
export interface Connection {
  /** `head` ends with its blank line. `body` is sent `repeat` times over. */
  send(head: string, body?: Buffer, repeat?: number): Promise<Answer>;
  close(): void;
}

const keptBodyBytes = 64 * 1024;
const readBufferBytes = 256 * 1024;
const endOfHead = "\r\n\r\n";
const lastChunk = "0\r\n\r\n";
const nothing = Buffer.alloc(0);

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export async function openConnection(port: number): Promise<Connection> {
  let waiting: Waiting | null = null;
  let started = nothing;
  let answer: Answer | null = null;
  let missingBytes = 0;

  function onData(chunk: Buffer): void {
    if (answer === null) {
      const text = started.length === 0 ? chunk : Buffer.concat([started, chunk]);
      const headEnd = text.indexOf(endOfHead);
      if (headEnd === -1) {
        started = Buffer.from(text);
        return;
      }
      started = nothing;
      answer = parseHead(text.toString("latin1", 0, headEnd));
      missingBytes = answer.bodyBytes;
      takeBody(text.subarray(headEnd + endOfHead.length));
    } else takeBody(chunk);
  }

  function takeBody(chunk: Buffer): void {
    if (answer === null) return;
    if (Number.isNaN(missingBytes)) {
      if (chunk.toString("latin1").endsWith(lastChunk)) finish(answer);
      return;
    }
    missingBytes -= chunk.length;
    if (answer.bodyBytes <= keptBodyBytes && chunk.length > 0) {
      answer.body = answer.body.length === 0 ? Buffer.from(chunk) : Buffer.concat([answer.body, chunk]);
    }
    if (missingBytes <= 0) finish(answer);
  }

  function finish(done: Answer): void {
    answer = null;
    waiting?.resolve(done);
  }

  const socket = await openSocket(port, onData);
  const fail = (error: Error) => waiting?.reject(error);
  socket.on("error", fail).on("close", () => fail(new Error("the server closed the connection")));

  return {
    send(head, body = nothing, repeat = 1) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        if (repeat === 1) {
          socket.write(body.length === 0 ? head : Buffer.concat([Buffer.from(head, "latin1"), body]));
          return;
        }
        socket.write(head);
        writeRepeatedly(socket, body, repeat);
      });
    },
    close() {
      waiting = null;
      socket.destroy();
    },
  };
}

function openSocket(port: number, onData: (chunk: Buffer) => void): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // A buffer of our own spares one allocation for every read.
    const callback = (bytes: number, buffer: Uint8Array) => {
      onData(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
      return true;
    };
    const options: TcpNetConnectOpts = {
      port,
      host: "127.0.0.1",
      onread: { buffer: Buffer.alloc(readBufferBytes), callback },
    };
    const socket = connect(options).setNoDelay();
    socket.once("connect", () => resolve(socket.off("error", reject))).once("error", reject);
  });
}

function writeRepeatedly(socket: Socket, body: Buffer, times: number): void {
  for (let left = times; left > 0; left--) {
    if (!socket.write(body)) {
      socket.once("drain", () => writeRepeatedly(socket, body, left - 1));
      return;
    }
  }
}

function parseHead(head: string): Answer {
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const bodyBytes = status === 204 ? 0 : Number(length);
  return { status, head, body: nothing, bodyBytes };
}
