import { addressOf } from "../../address.ts";
import { formatAgo, formatBytes } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Failure } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";

export interface Recipe {
  width?: number;
  height?: number;
  fit: string;
  quality: number;
  format: string;
}

interface Variant {
  id: string;
  recipe: Recipe | null;
  type: string;
  size: number;
  usedAt: string;
}

/** An image's rendered variants, and a link to create more. */
export function FileVariants({ fileKey }: { fileKey: string }) {
  const { api, project } = useWorkspace();
  const loaded = useLoad<{ variants: Variant[] }>(`${api}/variants?key=${encodeURIComponent(fileKey)}`);
  const studio = (recipe: Recipe | null) => {
    const knobs = Object.entries(recipe ?? {}).map(([name, value]) => [name, String(value)]);
    return `${addressOf(project.id, "live", "studio")}?${new URLSearchParams([["key", fileKey], ...knobs])}`;
  };
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  const variants = loaded.data?.variants ?? [];
  return (
    <>
      <h3>Variants</h3>
      {variants.length > 0 && (
        <ul className="rows">
          {variants.map(({ id, recipe, type, size, usedAt }) => (
            <li key={id}>
              <span className="grow">
                <Link to={studio(recipe)}>{recipe === null ? "a variant" : describeRecipe(recipe)}</Link>
              </span>
              <span className="tag">{type.replace("image/", "")}</span>
              <span className="dim">{formatBytes(size)}</span>
              <span className="dim">Used {formatAgo(usedAt)}</span>
            </li>
          ))}
        </ul>
      )}
      <p>
        {loaded.data !== null && variants.length === 0 && "No variants yet. "}
        <Link to={studio(null)}>Open in the image studio</Link>
      </p>
    </>
  );
}

function describeRecipe({ width, height, fit, quality }: Recipe): string {
  return `${width ?? "any"} × ${height ?? "any"}, ${fit}, quality ${quality}`;
}
