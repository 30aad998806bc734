import type { ServerResponse } from "node:http";
import { type BucketAct, type BucketRequest, describePart, sendXml } from "./bucket-answers.ts";

export interface Lie {
  acts: BucketAct[];
  /** True: only about confirmed objects. False: only about everything else. */
  onFinalName?: boolean;
  tell(answer: ServerResponse, request: BucketRequest): void;
}

export const absurdSize = Number.MAX_SAFE_INTEGER;
const megabyte = "x".repeat(1_000_000);
const modified = new Date(0).toUTCString();
const head = { etag: '"0123456789abcdef"', "content-type": "text/plain", "last-modified": modified };

const everything: BucketAct[] = [
  "head-bucket",
  "head-object",
  "get-object",
  "put-object",
  "copy-object",
  "delete-object",
  "delete-objects",
  "list-objects",
  "list-uploads",
  "list-parts",
  "create-upload",
  "put-part",
  "copy-part",
  "complete-upload",
  "abort-upload",
  "preflight",
];
/** Those whose answers the service reads as XML. */
const xmlActs: BucketAct[] = [
  "list-objects",
  "list-uploads",
  "list-parts",
  "create-upload",
  "copy-object",
  "copy-part",
  "complete-upload",
  "delete-objects",
];

const sendHead = (headers: Record<string, string>) => (answer: ServerResponse) =>
  void answer.writeHead(200, { ...head, ...headers }).end();

/** Writes raw bytes, for what Node's server would not send, and closes. */
const sendRaw = (text: string) => (answer: ServerResponse) =>
  void answer.socket?.end(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n`);

/** Repeats the same text until the other side has had enough. */
function repeat(answer: ServerResponse, text: string, mostTimes = Number.POSITIVE_INFINITY): void {
  let times = 0;
  const write = () => {
    while (!answer.destroyed && times++ < mostTimes) if (!answer.write(text)) return;
    answer.end();
  };
  answer.on("drain", write);
  write();
}

function trickle(answer: ServerResponse): void {
  const timer = setInterval(() => answer.write("x"), 1000);
  answer.on("close", () => clearInterval(timer));
}

const listParts = (content: (marker: number) => string): Lie => ({
  acts: ["list-parts"],
  tell: (answer, { query }) =>
    sendXml(answer, "ListPartsResult", content(Number(query.get("part-number-marker") ?? 0))),
});
const truncated = (next: number) =>
  `<IsTruncated>true</IsTruncated><NextPartNumberMarker>${next}</NextPartNumberMarker>`;

function largestItem(act: BucketAct, query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const key = `<Key>${prefix}${"%E2%82%AC".repeat(Math.floor((1024 - prefix.length) / 3))}</Key>`;
  const [time, etag] = ["2024-01-01T00:00:00.000Z", `&quot;${"e".repeat(64)}-10000&quot;`];
  const person = `<ID>${"i".repeat(64)}</ID><DisplayName>${"d".repeat(64)}</DisplayName>`;
  if (act === "list-parts")
    return `<Part><PartNumber>1</PartNumber><LastModified>${time}</LastModified><ETag>${etag}</ETag><Size>5368709120</Size></Part>`;
  if (act === "list-objects")
    return `<Contents>${key}<LastModified>${time}</LastModified><ETag>${etag}</ETag><Size>5368709120</Size><Owner>${person}</Owner><StorageClass>INTELLIGENT_TIERING</StorageClass></Contents>`;
  return `<Upload>${key}<UploadId>${"u".repeat(350)}</UploadId><Initiator>${person}</Initiator><Owner>${person}</Owner><StorageClass>STANDARD</StorageClass><Initiated>${time}</Initiated></Upload>`;
}

export const lies = {
  "no answer to writes": { acts: ["put-object"], tell: () => {} },
  "absurd size": {
    acts: ["head-object"],
    onFinalName: false,
    tell: sendHead({ "content-length": String(absurdSize) }),
  },
  "absurd size of the final object": {
    acts: ["head-object"],
    onFinalName: true,
    tell: sendHead({ "content-length": String(absurdSize) }),
  },
  "another size of the final object": {
    acts: ["head-object"],
    onFinalName: true,
    tell: sendHead({ "content-length": "13", etag: '"another"' }),
  },
  "no length": {
    acts: ["head-object", "get-object"],
    tell: (answer) => void answer.writeHead(200, head).end(),
  },
  "negative length": { acts: ["head-object", "get-object"], tell: sendRaw("ETag: x\r\nContent-Length: -5") },
  "length of letters": {
    acts: ["head-object", "get-object"],
    tell: sendRaw("ETag: x\r\nContent-Length: many"),
  },
  "no etag": {
    acts: ["head-object", "put-object", "put-part"],
    tell: (answer) => void answer.writeHead(200, { "content-length": 10 }).end(),
  },
  "huge etag header": {
    acts: ["head-object", "get-object", "put-object"],
    tell: sendRaw(`Content-Length: 0\r\nETag: "${"e".repeat(100_000)}"`),
  },
  "huge etag in a copy": {
    acts: ["copy-object", "copy-part"],
    tell: (answer) => sendXml(answer, "CopyObjectResult", `<ETag>${"e".repeat(100_000)}</ETag>`),
  },
  "etag with line breaks in a copy": {
    acts: ["copy-object"],
    tell: (answer) => sendXml(answer, "CopyObjectResult", "<ETag>a&#13;&#10;set-cookie: b</ETag>"),
  },
  "huge upload id": {
    acts: ["create-upload"],
    tell: (answer) =>
      sendXml(answer, "InitiateMultipartUploadResult", `<UploadId>${"u".repeat(500_000)}</UploadId>`),
  },
  "parts without end": listParts((marker) => truncated(marker + 1)),
  "parts that stand still": listParts(() => truncated(1)),
  "parts without numbers": listParts(() => describePart(Number.NaN, "many", "x")),
  "parts of absurd size": listParts(
    () => describePart(1, absurdSize, "x") + describePart(2, absurdSize, "x"),
  ),
  "parts without a time": listParts(() =>
    describePart(1, 5, "x").replace(/<LastModified>[^<]*/, "<LastModified>"),
  ),
  "no list of parts": { acts: ["list-parts"], tell: () => {} },
  "objects without end": {
    acts: ["list-objects"],
    tell: (answer, { query }) => {
      const key = `${query.get("prefix")}${Date.now()}`;
      const item = `<Contents><Key>${key}</Key><LastModified>${new Date().toISOString()}</LastModified><Size>1</Size></Contents>`;
      const next = `<NextContinuationToken>${Math.random()}</NextContinuationToken>`;
      sendXml(answer, "ListBucketResult", `<IsTruncated>true</IsTruncated>${next}${item}`);
    },
  },
  /** No lie: keys of 1,024 bytes, all of them percent-encoded. */
  "pages as large as S3 makes them": {
    acts: ["list-objects", "list-uploads", "list-parts"],
    tell: (answer, { act, query }) => {
      const most = Number(query.get("max-keys") ?? query.get("max-uploads") ?? query.get("max-parts"));
      sendXml(answer, "List", `<EncodingType>url</EncodingType>${largestItem(act, query).repeat(most)}`);
    },
  },
  "objects that stand still": {
    acts: ["list-objects"],
    tell: (answer) =>
      sendXml(
        answer,
        "ListBucketResult",
        "<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>",
      ),
  },
  "objects of somebody else": {
    acts: ["list-objects"],
    tell: (answer) =>
      sendXml(
        answer,
        "ListBucketResult",
        `<Contents><Key>elsewhere</Key><LastModified>2020-01-01T00:00:00Z</LastModified><Size>1</Size></Contents>`,
      ),
  },
  "keys that are no UTF-8": {
    acts: ["list-objects", "list-uploads"],
    tell: (answer, { act }) =>
      sendXml(
        answer,
        "List",
        `<EncodingType>url</EncodingType>${["Contents", "Upload"].map((tag) => `<${tag}><Key>%ff</Key></${tag}>`).join("")}${act}`,
      ),
  },
  "uploads that stand still": {
    acts: ["list-uploads"],
    tell: (answer) =>
      sendXml(
        answer,
        "ListMultipartUploadsResult",
        "<IsTruncated>true</IsTruncated><NextKeyMarker>same</NextKeyMarker><NextUploadIdMarker>same</NextUploadIdMarker>",
      ),
  },
  "XML without end": {
    acts: xmlActs,
    tell: (answer) => {
      answer.writeHead(200, { "content-type": "application/xml" });
      answer.write("<ListPartsResult>");
      repeat(answer, "<Part><PartNumber>1</PartNumber></Part>".repeat(1000));
    },
  },
  "XML of 300 MB": {
    acts: xmlActs,
    tell: (answer) => {
      answer.writeHead(200, { "content-type": "application/xml" });
      answer.write("<ListPartsResult>");
      repeat(answer, megabyte, 300);
    },
  },
  "XML that nests without end": {
    acts: xmlActs,
    tell: (answer) => sendXml(answer, "Deep", "<a>".repeat(200_000)),
  },
  "errors of 15 MB": {
    acts: everything,
    tell: (answer) => {
      answer.writeHead(403, { "content-type": "application/xml" });
      answer.write("<Error><Code>AccessDenied</Code><Message>");
      repeat(answer, megabyte, 15);
    },
  },
  "errors with long messages": {
    acts: everything,
    tell: (answer) =>
      sendXml(
        answer,
        "Error",
        `<Code>Access${"D".repeat(20_000)}</Code><Message>line&#10;&#9;break ${"m".repeat(30_000)}</Message>`,
        403,
      ),
  },
  "errors under a 200": {
    acts: everything,
    tell: (answer) => sendXml(answer, "Error", "<Code>Surprise</Code><Message>not at all</Message>"),
  },
  redirects: {
    acts: everything,
    tell: (answer) => void answer.writeHead(307, { location: "http://127.0.0.1:1/elsewhere" }).end(),
  },
  "no answer": { acts: everything, tell: () => {} },
  "one byte a second": {
    acts: everything,
    tell: (answer) => {
      answer.writeHead(200, { ...head, "content-length": 1_000_000 });
      trickle(answer);
    },
  },
  "headers, then silence": {
    acts: ["get-object"],
    tell: (answer, { headers }) => {
      const [, start, end] = /bytes=(\d+)-(\d+)/.exec(String(headers.range)) ?? [];
      const length = end === undefined ? 10 : Number(end) - Number(start) + 1;
      answer.writeHead(206, { ...head, "content-length": length }).flushHeaders();
    },
  },
  "a body without end": {
    acts: ["get-object"],
    tell: (answer) => {
      answer.writeHead(200, { ...head, "content-length": absurdSize });
      repeat(answer, megabyte);
    },
  },
  "interim answers without end": {
    acts: everything,
    tell: (answer) => {
      const send = () => {
        while (!answer.destroyed && answer.socket?.write("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"));
      };
      answer.socket?.on("drain", send);
      send();
    },
  },
} satisfies Record<string, Lie>;
