"use client";

import type { FileRouter, RouteResult } from "@upstow/sdk/client";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { describeRules } from "./format.ts";
import { createPropGetters, type Drag, type PropGetters } from "./prop-getters.ts";
import { useSurroundings } from "./provider.tsx";
import { createQueue, emptyList, type Queue, type QueueSettings, type UploadActions } from "./queue.ts";
import { mergeRules } from "./rules.ts";
import type {
  Register,
  RegisteredRouter,
  RouteName,
  RouteOptions,
  Rules,
  UploadList,
  UploadOptions,
} from "./types.ts";

/** Everything a component needs. */
export interface Upload<Result = unknown>
  extends UploadList<Result>,
    Omit<Queue, "getSnapshot" | "subscribe" | "continueUpload">,
    PropGetters {
  /** Opens the file chooser; `accept` and `capture` apply to this call only. */
  open(once?: { accept?: string; capture?: string; isFolder?: boolean }): void;
  /** Stable for the lifetime of the list, so that rows re-render only when they change. */
  actions: UploadActions;
  /** What is dragged over the root: nothing, accepted files, or files that are not accepted. */
  drag: Drag;
  rules: Rules;
  /** The rules in words; empty until the backend has sent them. */
  hint: string;
  isDisabled: boolean;
}

type UseUpload = <Name extends RouteName>(
  options: RouteOptions<RegisteredRouter, Name>,
) => Upload<RouteResult<RegisteredRouter, Name>>;

/** Uploads without any markup. */
export const useUpload = useList as UseUpload;

function useList(options: UploadOptions): Upload {
  const { store, labels, locale } = useSurroundings();
  const [rulesOfRoutes, setRulesOfRoutes] = useState<Record<string, Rules>>({});
  const [drag, setDrag] = useState<Drag>(null);
  const input = useRef<HTMLInputElement | null>(null);
  const onChosen = useRef<((file: File) => void) | null>(null);
  const rules = mergeRules(options, rulesOfRoutes[options.route]);

  const latest = useRef<QueueSettings>({ options, rules, labels, locale });
  useEffect(() => {
    latest.current = { options, rules, labels, locale };
  });
  const queue = useMemo(() => createQueue(store.get, () => latest.current), [store]);
  const list = useSyncExternalStore(queue.subscribe, queue.getSnapshot, () => emptyList);

  const { route, isDisabled = false } = options;
  useEffect(() => {
    let isMounted = true;
    if (route !== "") void store.getRules().then((known) => isMounted && setRulesOfRoutes(known));
    return () => {
      isMounted = false;
    };
  }, [store, route]);

  const getters = createPropGetters({
    queue,
    input,
    onChosen,
    list,
    rules,
    labels,
    drag,
    setDrag,
    isDisabled,
  });
  const { getSnapshot: _, subscribe: __, ...actions } = queue;
  const hint = describeRules(rules, labels, locale);
  return {
    ...list,
    ...actions,
    ...getters,
    actions: queue,
    drag,
    rules,
    hint,
    isDisabled,
  };
}

interface Shared {
  /** The result of `useUpload`, to share one list between components; otherwise `route` creates a list. */
  upload?: Upload | undefined;
}

type PropsOf<Router> =
  | { [Name in RouteName<Router>]: RouteOptions<Router, Name> & Shared }[RouteName<Router>]
  | (Shared & Partial<Omit<UploadOptions, "route">> & { upload: Upload; route?: undefined });

/** The props of every component that creates its own list; typed with your routes once they are registered. */
export type UploadProps = Register extends { router: infer Router extends FileRouter }
  ? PropsOf<Router>
  : Partial<UploadOptions> & Shared;

export type UploadPropsWithout<Keys extends string> = UploadProps extends infer Props
  ? Props extends unknown
    ? Omit<Props, Keys>
    : never
  : never;

/** The list passed to a component, or its own. `never` accepts callbacks for any route's result. */
export function useGivenUpload(
  props: Partial<Omit<UploadOptions<unknown, never>, "route">> & { route?: string | undefined } & Shared,
  defaults?: Partial<UploadOptions>,
): Upload {
  const own = useList({ ...defaults, ...(props as Partial<UploadOptions>), route: props.route ?? "" });
  return props.upload ?? own;
}
