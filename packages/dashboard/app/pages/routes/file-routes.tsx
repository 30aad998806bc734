import { type DeliveryDetail, PAGE_MAX, type Router } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { usePages } from "../../load.ts";
import { DeliveryView } from "../../parts/delivery-view.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { Lock } from "../../parts/lock.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";
import { describeLimits, describeTreatment } from "./describe-route.ts";
import { RouteForm } from "./route-form.tsx";

export default function FileRoutes() {
  const { liveApi, project, mayChange } = useWorkspace();
  const path = `${liveApi}/projects/${project.id}/routers?limit=${PAGE_MAX}`;
  const list = usePages<Router, "routers">(path, "routers");
  const [editing, setEditing] = useState<Router | "new" | null>(null);
  const done = () => {
    setEditing(null);
    list.reload();
  };
  return (
    <>
      <div className="title">
        <h1>File routes</h1>
        {mayChange && (
          <button type="button" className="primary" onClick={() => setEditing("new")}>
            Create route
          </button>
        )}
      </div>
      <p className="dim">Routes define accepted types, size limits and a webhook.</p>
      <ListState list={list} empty={<Empty title="No file routes" />}>
        <ul className="rows">
          {list.items.map((route) => (
            <RouteRow key={route.id} route={route} onEdit={() => setEditing(route)} onDeleted={list.reload} />
          ))}
        </ul>
        <MoreButton list={list} />
      </ListState>
      {editing !== null && (
        <Dialog
          title={editing === "new" ? "Create route" : "Edit route"}
          wide
          onClose={() => setEditing(null)}
        >
          <RouteForm route={editing === "new" ? null : editing} onSaved={done} />
        </Dialog>
      )}
    </>
  );
}

function RouteRow({
  route,
  onEdit,
  onDeleted,
}: {
  route: Router;
  onEdit: () => void;
  onDeleted: () => void;
}) {
  const { api, liveApi, mayChange } = useWorkspace();
  const [isDeleting, setDeleting] = useState(false);
  const [tested, setTested] = useState<DeliveryDetail | null>(null);
  const { error, isBusy, run } = useAction();
  const remove = async () => {
    await callApi("DELETE", `${liveApi}/routers/${route.id}`);
    onDeleted();
  };
  const sendTest = () =>
    run(async () => {
      const path = `${api}/routers/${route.id}/test`;
      setTested((await callApi<{ delivery: DeliveryDetail }>("POST", path)).delivery);
    });
  const treatment = describeTreatment(route);
  return (
    <li>
      <span className="grow">
        <strong className="name">
          <SafeText text={route.slug} /> {route.access === "private" && <Lock />}{" "}
          <span className={`tag ${route.environment}`}>
            {route.environment === "all" ? "Live and test" : route.environment === "live" ? "Live" : "Test"}
          </span>
        </strong>
        <span className="dim">
          <SafeText text={describeLimits(route)} />
        </span>
        {treatment !== "" && <span className="dim">{treatment}</span>}
        {route.webhookUrl !== null && (
          <span className="dim url">
            <SafeText text={route.webhookUrl} />
          </span>
        )}
        {error !== null && <Failure error={error} />}
      </span>
      {mayChange && (
        <span className="line">
          {route.webhookUrl !== null && (
            <button type="button" disabled={isBusy} onClick={() => void sendTest()}>
              Test webhook
            </button>
          )}
          <button type="button" onClick={onEdit}>
            Edit
          </button>
          <button type="button" className="danger" onClick={() => setDeleting(true)}>
            Delete
          </button>
        </span>
      )}
      {isDeleting && (
        <Dialog title="Delete route" onClose={() => setDeleting(false)}>
          <Form submit="Delete route" isDangerous onSubmit={remove}>
            <p>
              New uploads to{" "}
              <strong>
                <SafeText text={route.slug} />
              </strong>{" "}
              will be rejected. Its files are kept.
            </p>
          </Form>
        </Dialog>
      )}
      {tested !== null && (
        <Dialog title="Test webhook" wide onClose={() => setTested(null)}>
          <DeliveryView delivery={tested} />
        </Dialog>
      )}
    </li>
  );
}
