import type { Queryable } from "../../../db/database.ts";
import { nameFile } from "../../../files/name-file.ts";
import { listFileTypes, listVariantTypes } from "./queries.ts";

const unknownType = "application/octet-stream";

/** What each of these objects is, so that whoever reads the bucket itself is told. */
export async function findContentTypes(db: Queryable, keys: string[]): Promise<(key: string) => string> {
  const fileIds = keys.map((key) => nameFile(key).id);
  const variantIds = keys.flatMap((key) => findVariantId(key) ?? []);
  const files = await db.all(listFileTypes, { idsJson: JSON.stringify(fileIds) });
  const variants = await db.all(listVariantTypes, { idsJson: JSON.stringify(variantIds) });
  const typeOfFile = new Map(files.map(({ id, type }) => [id, type]));
  const typeOfVariant = new Map(variants.map(({ id, content_type: type }) => [id, type]));
  return (key) => {
    const variantId = findVariantId(key);
    const type = variantId === null ? typeOfFile.get(nameFile(key).id) : typeOfVariant.get(variantId);
    return type ?? unknownType;
  };
}

function findVariantId(key: string): string | null {
  return /\/variants\/([0-9a-f]{64})-[^/]+$/.exec(key)?.[1] ?? null;
}
