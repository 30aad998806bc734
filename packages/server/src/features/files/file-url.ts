import type { Config } from "../../config.ts";
import { encodeKey } from "../uploads/storage-key.ts";

export function fileUrl(config: Pick<Config, "cdnUrl">, key: string): string {
  return `${config.cdnUrl}/f/${encodeKey(key)}`;
}
