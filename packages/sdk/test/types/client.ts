import { createUploader, type RouteInput, type RouteResult } from "../../src/client/index.ts";
import type { AppRouter } from "./router.ts";

declare const file: File;
const uploader = createUploader<AppRouter>({ endpoint: "/api/upload" });

export async function right(): Promise<void> {
  const [stored] = await uploader.upload("avatar", [file], { input: { album: "a", page: 3 } });
  const userId: number | undefined = stored?.result.userId;
  const at: string | undefined = stored?.result.at;
  const [plain] = await uploader.upload("plain", file);
  const nothing: undefined = plain?.result;
  const [task] = uploader.add("avatar", [file], { input: { album: "a" } });
  const url: string | undefined = (await task?.done)?.result.url;
  void [userId, at, nothing, url];
}

export async function wrong(): Promise<void> {
  // @ts-expect-error no route has this name
  uploader.add("avatars", [file], { input: { album: "a" } });
  // @ts-expect-error the route needs input
  uploader.add("avatar", [file]);
  // @ts-expect-error the route needs input
  uploader.upload("avatar", [file], {});
  // @ts-expect-error the input is not of this shape
  uploader.add("avatar", [file], { input: { album: 5 } });
  // @ts-expect-error this route takes no input
  uploader.add("plain", [file], { input: { album: "a" } });
  const [stored] = await uploader.upload("avatar", [file], { input: { album: "a" } });
  // @ts-expect-error the callback's result has no such field
  stored?.result.title;
  // @ts-expect-error a Date arrives as a string
  stored?.result.at.getTime();
  // @ts-expect-error a File is needed
  uploader.add("plain", "file.txt");
}

/** Without a router's type everything goes, and nothing is known. */
export async function untyped(): Promise<unknown> {
  const [stored] = await createUploader({ endpoint: "/" }).upload("any", file, { input: 5 });
  const result: unknown = stored?.result;
  // @ts-expect-error nothing is known of it
  stored?.result.anything;
  return result;
}

export const input: RouteInput<AppRouter, "avatar"> = { album: "a" };
export type Result = RouteResult<AppRouter, "avatar">;
