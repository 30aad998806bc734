export interface Equivalent {
  file: string;
  /** The line of the code, as it stands there. */
  line: string;
  what: string;
  why: string;
}

const finishUpload = {
  file: "packages/server/src/files/uploads/finish-upload.ts",
  line: 'if (error instanceof AppError && error.code === "NOT_FOUND") {',
  why: "it only spares a question: the bytes of a file that is open or completed are kept whoever asks",
};

const readyKeys = {
  file: "packages/server/src/webhooks/sign-delivery.ts",
  why: "it only decides how long a key stays ready, which costs time and memory",
};
const boundOfReadyKeys = { ...readyKeys, line: "if (prepared.size >= mostPrepared) prepared.clear();" };

const links = { file: "packages/server/src/serving/links/serving.ts" };
const knownTokens = { ...links, why: "it only spares verifying a token once more" };
const servedOnce = { ...links, why: "it only decides whether what was built for a response is built again" };
const signer = { file: "packages/sdk/src/links/sign.ts" };

/** Mutants that change nothing anybody could see. They are not tried, and count as not noticed. */
export const equivalents: Equivalent[] = [
  { ...finishUpload, what: "&& → ||" },
  { ...finishUpload, what: "if (…) → if (true)" },
  { ...readyKeys, line: "if (ready === undefined) {", what: "if (…) → if (true)" },
  { ...readyKeys, line: "prepared.set(key, ready);", what: "prepared.set(…) is gone" },
  { ...boundOfReadyKeys, what: "if (…) → if (true)" },
  { ...boundOfReadyKeys, what: "if (…) → if (false)" },
  { ...boundOfReadyKeys, what: ">= → >" },
  { ...knownTokens, line: "if (known !== undefined) return known;", what: "if (…) → if (false)" },
  {
    ...knownTokens,
    line: "if (read.genuineFor !== null && read.genuineFor === file.current_sealed) return;",
    what: "if (…) → if (false)",
  },
  { ...knownTokens, line: "genuine.remember(read.claim.id, read);", what: "genuine.remember(…) is gone" },
  {
    ...servedOnce,
    line: 'if (shown === "inline" && countedId === null) return toPlain(file);',
    what: "if (…) → if (false)",
  },
  { ...servedOnce, line: "isLasting: false,", what: "false → true" },
  {
    file: "packages/server/src/serving/links/count-use.ts",
    line: "if (await resumes()) return true;",
    what: "if (…) → if (false)",
    why: "it only spares taking a use and giving it back, since the same is asked again afterwards",
  },
  {
    ...signer,
    line: "if (node !== undefined) {",
    what: "if (…) → if (false)",
    why: "WebCrypto signs the same, and takes longer",
  },
  {
    ...signer,
    line: 'const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);',
    what: "false → true",
    why: "nothing outside the function can reach the key",
  },
];
