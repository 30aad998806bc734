import { createServer } from "node:http";
import type { RecordedAnswer } from "./floor.ts";

const [, , port, , recorded] = process.argv;
const { status, headers, bodyBase64 } = JSON.parse(recorded ?? "") as RecordedAnswer;
const bytes = Buffer.from(bodyBase64, "base64");

createServer((request, response) => {
  // Reading what was sent is part of any answer to it.
  let received = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    received += chunk;
  });
  request.on("end", () => {
    if (received !== "") JSON.parse(received);
    response.writeHead(status, headers);
    response.end(bytes);
  });
}).listen(Number(port), "127.0.0.1");
