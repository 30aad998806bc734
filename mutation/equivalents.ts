export interface Equivalent {
  file: string;
  /** The line of the code, as it stands there. */
  line: string;
  what: string;
  why: string;
}

const finishUpload = {
  file: "packages/server/src/features/uploads/finish-upload.ts",
  line: 'if (error instanceof AppError && error.code === "NOT_FOUND") await removeUnlessKept(deps, file);',
  why: "it only spares a question: the bytes of a file that is open or completed are kept whoever asks",
};

/** Mutants that change nothing anybody could see. They are not tried, and count as not noticed. */
export const equivalents: Equivalent[] = [
  { ...finishUpload, what: "&& → ||" },
  { ...finishUpload, what: "if (…) → if (true)" },
  {
    file: "packages/server/src/http/authenticate.ts",
    line: 'app.decorateRequest("actor");',
    what: "app.decorateRequest(…) is gone",
    why: "it only gives all requests one shape, for speed",
  },
];
