import type { Router } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { ellipsisIcon } from "@upstow/kit/icons";
import { useState } from "react";
import { Dialog } from "../../parts/dialog.tsx";
import { Menu } from "../../parts/menu.tsx";
import { goTo } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { AddFromUrl } from "./add-from-url.tsx";
import { CreateUploadGrant } from "./create-upload-grant.tsx";

const titles = { url: "Add from URL", grant: "Create upload link" };
type Task = keyof typeof titles;

/** Ways to upload that need no file at hand. */
export function MoreWays({ routes, onAdded }: { routes: Router[]; onAdded: () => void }) {
  const { environment, urlOf } = useWorkspace();
  const [task, setTask] = useState<Task | null>(null);
  const slugs = routes
    .filter((route) => route.environment === "all" || route.environment === environment)
    .map(({ slug }) => slug);
  if (slugs.length === 0) return null;
  const items = (["url", "grant"] as const).map((name) => ({
    label: `${titles[name]}…`,
    onSelect: () => setTask(name),
  }));
  return (
    <>
      <Menu label="More ways to upload" items={items}>
        <Icon of={ellipsisIcon} />
      </Menu>
      {task !== null && (
        <Dialog title={titles[task]} onClose={() => setTask(null)}>
          {task === "grant" ? (
            <CreateUploadGrant slugs={slugs} />
          ) : (
            <AddFromUrl
              slugs={slugs}
              onStarted={({ id }) => {
                setTask(null);
                onAdded();
                goTo(urlOf(`files/${id}`));
              }}
            />
          )}
        </Dialog>
      )}
    </>
  );
}
