import { FILE_NAME_MAX } from "@upstow/contract";

/** At most as long as names may be. The extension stays, because programs tell by it what a file is. */
export function shortenName(name: string): string {
  const characters = [...name];
  if (characters.length <= FILE_NAME_MAX) return name;
  const extension = [...(/\.[^.\s/\\]{1,20}$/u.exec(name)?.[0] ?? "")];
  return [...characters.slice(0, FILE_NAME_MAX - extension.length), ...extension].join("");
}
