import { listCodePaths, listSystemPaths } from "./needed-paths.ts";

export interface BubblewrapFds {
  /** bwrap says there which process it has started. */
  info: number;
  /** It reads its seccomp program there; null for none. */
  filter: number | null;
}

/** Everything up to the command that is to run inside. */
export function bubblewrapArgs({ info, filter }: BubblewrapFds): string[] {
  return [
    // Not `--unshare-all`, which is content to go without a user namespace.
    ...["user", "ipc", "pid", "net", "uts"].map((kind) => `--unshare-${kind}`),
    "--unshare-cgroup-try",
    ...["--cap-drop", "ALL"],
    ...[...listSystemPaths(), ...listCodePaths()].flatMap((path) => ["--ro-bind", path, path]),
    // No /proc either. A new one could not be mounted where the service's own is masked, as containers and systemd do.
    ...["--remount-ro", "/"],
    ...["--chdir", "/"],
    // Not `--new-session`: the scheduler would take it for a group of its own and weigh it like the whole service. There is
    // no terminal among its descriptors, nor a /dev to find one in.
    "--die-with-parent",
    // Otherwise another process of bwrap's stands between, and the one it tells of is not node.
    "--as-pid-1",
    ...["--info-fd", String(info)],
    ...(filter === null ? [] : ["--seccomp", String(filter)]),
    "--",
  ];
}
