import { generateReactHelpers } from "@upstow/react";
import type { Router } from "../server.ts";

/** Knows the server's routes: a wrong name, input or result does not compile. */
export const { useUpload } = generateReactHelpers<Router>();
