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

/** Mutants that change nothing anybody could see. They are not tried, and count as not noticed. */
export const equivalents: Equivalent[] = [
  { ...finishUpload, what: "&& → ||" },
  { ...finishUpload, what: "if (…) → if (true)" },
  { ...readyKeys, line: "if (ready === undefined) {", what: "if (…) → if (true)" },
  { ...readyKeys, line: "prepared.set(key, ready);", what: "prepared.set(…) is gone" },
  { ...boundOfReadyKeys, what: "if (…) → if (true)" },
  { ...boundOfReadyKeys, what: "if (…) → if (false)" },
  { ...boundOfReadyKeys, what: ">= → >" },
  {
    file: "packages/server/src/projects/api-keys/authenticate.ts",
    line: 'app.decorateRequest("actor");',
    what: "app.decorateRequest(…) is gone",
    why: "it only gives all requests one shape, for speed",
  },
];
