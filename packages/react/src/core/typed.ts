"use client";

import {
  createUploader,
  type FileRouter,
  type RouteResult,
  type Uploader,
  type UploaderOptions,
} from "@upstow/sdk/client";
import type { ReactNode } from "react";
import { useUploader } from "./provider.tsx";
import type { RouteName, RouteOptions, UploadOptions } from "./types.ts";
import { type Upload, type UploadProps, useUpload } from "./use-upload.ts";

export interface ReactHelpers<Router extends FileRouter> {
  useUpload<Name extends RouteName<Router>>(
    options: RouteOptions<Router, Name>,
  ): Upload<RouteResult<Router, Name>>;
  useUploader(): Uploader<Router>;
  /** Uploads without a component: resolves when all files are stored. */
  uploadFiles: Uploader<Router>["upload"];
  /** The same component, typed with your routes: `const Dropzone = typed(UploadDropzone)`. */
  typed<Props extends Pick<UploadProps, "upload">>(
    component: (props: Props) => ReactNode,
  ): <Name extends RouteName<Router>>(
    props: Omit<Props, keyof UploadOptions> & RouteOptions<Router, Name>,
  ) => ReactNode;
}

/** Binds hooks and components to a router's types, for applications with several; for one router, see `Register`. */
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
