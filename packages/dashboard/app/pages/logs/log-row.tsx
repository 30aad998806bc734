import type { Log } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { circleAlertIcon, circleCheckIcon, infoIcon, triangleAlertIcon } from "@upstow/kit/icons";
import { formatAgo, formatTime } from "../../format.ts";
import { SafeJson, SafeText } from "../../parts/safe-text.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";

type Severity = "error" | "warning" | "success" | "info";

const severities: Record<string, Severity> = {
  "upload.completed": "success",
  "upload.failed": "error",
  "upload.aborted": "warning",
  "file.infected": "error",
  "file.mismatch": "warning",
  "webhook.delivered": "success",
  "webhook.failed": "error",
  "rate.limited": "warning",
};
const looks: Record<Severity, { icon: string; tag: string; label: string }> = {
  error: { icon: circleAlertIcon, tag: "bad", label: "Error" },
  warning: { icon: triangleAlertIcon, tag: "warn", label: "Warning" },
  success: { icon: circleCheckIcon, tag: "good", label: "Success" },
  info: { icon: infoIcon, tag: "", label: "Info" },
};

/** An entry with its severity and the file that it is about. */
export function LogRow({ log, isInFile = false }: { log: Log; isInFile?: boolean }) {
  const { urlOf } = useWorkspace();
  const { icon, tag, label } = looks[severities[log.type] ?? "info"];
  const isWebhook = log.type.startsWith("webhook.");
  const fileName = log.key?.split("/").at(-1);
  return (
    <li className="log">
      <span className={`severity ${tag}`} title={label}>
        <Icon of={icon} />
        <span className="visually-hidden">{label}</span>
      </span>
      <span className="grow">
        <details>
          <summary>
            <SafeText text={log.message} />
          </summary>
          <SafeJson value={{ key: log.key, fileId: log.fileId, ...log.data }} />
        </details>
        {!isInFile && log.fileId !== undefined && (
          <span className="subject">
            {fileName !== undefined && (
              <Link to={urlOf(`files/${log.fileId}`)}>
                <SafeText text={fileName} />
              </Link>
            )}
            {isWebhook && <Link to={`${urlOf("webhooks")}?text=${log.fileId}`}>Deliveries</Link>}
          </span>
        )}
      </span>
      <span className={`tag ${tag}`}>{log.type}</span>
      <time className="dim ago" dateTime={log.createdAt} title={formatTime(log.createdAt)}>
        {formatAgo(log.createdAt)}
      </time>
    </li>
  );
}
