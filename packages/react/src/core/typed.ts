"use client";

import {
  createUploader,
  type FileRouter,
  type RouteInput,
  type RouteResult,
  type Uploader,
  type UploaderOptions,
} from "@upstow/sdk/client";
import type { ReactNode } from "react";
import { useUploader } from "./provider.tsx";
import type { UploadOptions } from "./types.ts";
import { type Upload, type UploadProps, useUpload } from "./use-upload.ts";

type NameOf<Router> = keyof Router & string;

type TypedOptions<Router, Name extends NameOf<Router>> = Omit<
  UploadOptions<RouteInput<Router, Name>, RouteResult<Router, Name>>,
  "route" | "input"
> & { route: Name } & (undefined extends RouteInput<Router, Name>
    ? { input?: RouteInput<Router, Name> }
    : { input: RouteInput<Router, Name> });

export interface ReactHelpers<Router extends FileRouter> {
  useUpload<Name extends NameOf<Router>>(
    options: TypedOptions<Router, Name>,
  ): Upload<RouteResult<Router, Name>>;
  useUploader(): Uploader<Router>;
  /** Uploads without a component: resolves when all files are stored. */
  uploadFiles: Uploader<Router>["upload"];
  /** The same component, which now knows your routes: `const Dropzone = typed(UploadDropzone)`. */
  typed<Props extends UploadProps>(
    component: (props: Props) => ReactNode,
  ): <Name extends NameOf<Router>>(
    props: Omit<Props, keyof UploadOptions> & TypedOptions<Router, Name>,
  ) => ReactNode;
}

/** Ties hooks and components to the types of your file router. */
export function generateReactHelpers<Router extends FileRouter>(
  options: Partial<UploaderOptions> = {},
): ReactHelpers<Router> {
  let uploader: Uploader | undefined;
  const helpers = {
    useUpload,
    useUploader,
    uploadFiles: (...args: Parameters<Uploader["upload"]>) => {
      uploader ??= createUploader({ endpoint: "/api/upload", ...options });
      return uploader.upload(...args);
    },
    typed: (component: unknown) => component,
  };
  return helpers as unknown as ReactHelpers<Router>;
}
