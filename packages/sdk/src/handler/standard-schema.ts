/** The interface shared by zod, valibot, arktype and others (https://standardschema.dev). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function issuePath(issue: StandardIssue): string {
  return (issue.path ?? [])
    .map((step) => String(typeof step === "object" ? step.key : step))
    .reduce((path, step) => `${path}.${step}`, "input");
}
