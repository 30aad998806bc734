import type { Benchmark } from "../harness/report.ts";
import { clientUploads } from "./client-uploads.ts";
import { controlPlane } from "./control-plane.ts";
import { directus } from "./directus.ts";
import { events } from "./events.ts";
import { gains } from "./gains.ts";
import { growthClients } from "./growth-clients.ts";
import { growthFiles } from "./growth-files.ts";
import { growthInstances } from "./growth-instances.ts";
import { growthSize } from "./growth-size.ts";
import { imageFacts } from "./image-facts.ts";
import { images } from "./images.ts";
import { imagesBesideApi } from "./images-beside-api.ts";
import { imagesCached } from "./images-cached.ts";
import { largeFiles } from "./large-files.ts";
import { listFilters } from "./list-filters.ts";
import { listing } from "./listing.ts";
import { memory } from "./memory.ts";
import { oneProject } from "./one-project.ts";
import { privateFiles } from "./private-files.ts";
import { search } from "./search.ts";
import { signing } from "./signing.ts";
import { smallFiles } from "./small-files.ts";
import { startUp } from "./start-up.ts";
import { statements } from "./statements.ts";
import { tusUploads } from "./tus-uploads.ts";
import { uploadCycle } from "./upload-cycle.ts";

/** By the name that the command line and the results use, in the order in which they run. */
export const benchmarks: Readonly<Record<string, Benchmark>> = {
  "start-up": startUp,
  "control-plane": controlPlane,
  statements,
  "upload-cycle": uploadCycle,
  "tus-uploads": tusUploads,
  "one-project": oneProject,
  "client-uploads": clientUploads,
  directus,
  "large-files": largeFiles,
  "small-files": smallFiles,
  "private-files": privateFiles,
  listing,
  "list-filters": listFilters,
  search,
  images,
  "image-facts": imageFacts,
  "images-cached": imagesCached,
  "images-beside-api": imagesBesideApi,
  events,
  memory,
  signing,
  gains,
  "growth-files": growthFiles,
  "growth-clients": growthClients,
  "growth-size": growthSize,
  "growth-instances": growthInstances,
};
