"use client";

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { describeRules } from "./format.ts";
import { createPropGetters, type Drag, type PropGetters } from "./prop-getters.ts";
import { useSurroundings } from "./provider.tsx";
import { createQueue, emptyList, type Queue, type QueueSettings, type UploadActions } from "./queue.ts";
import { mergeRules } from "./rules.ts";
import type { Rules, UploadList, UploadOptions } from "./types.ts";

/** Everything that a component needs to show and to do. */
export interface Upload<Result = unknown>
  extends UploadList<Result>,
    Omit<Queue, "getSnapshot" | "subscribe">,
    PropGetters {
  /** Opens the file chooser; with `accept` and `capture` for this time only. */
  open(once?: { accept?: string; capture?: string; isFolder?: boolean }): void;
  /** The same functions for as long as the list lives, for rows that draw only what moved. */
  actions: UploadActions;
  /** What is dragged over the root: nothing, files it takes, or files it does not. */
  drag: Drag;
  rules: Rules;
  /** The rules in words; empty until the backend has told them. */
  hint: string;
  isDisabled: boolean;
}

/** Uploads without any markup. */
export function useUpload<Input = unknown, Result = unknown>(
  options: UploadOptions<Input, Result>,
): Upload<Result> {
  const { store, labels, locale } = useSurroundings();
  const [rulesOfRoutes, setRulesOfRoutes] = useState<Record<string, Rules>>({});
  const [drag, setDrag] = useState<Drag>(null);
  const input = useRef<HTMLInputElement | null>(null);
  const plain = options as unknown as UploadOptions;
  const rules = mergeRules(plain, rulesOfRoutes[options.route]);

  const latest = useRef<QueueSettings>({ options: plain, rules, labels, locale });
  useEffect(() => {
    latest.current = { options: plain, rules, labels, locale };
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

  const getters = createPropGetters({ queue, input, list, rules, labels, drag, setDrag, isDisabled });
  const { getSnapshot: _, subscribe: __, ...actions } = queue;
  const hint = describeRules(rules, labels, locale);
  return {
    ...(list as UploadList<Result>),
    ...actions,
    ...getters,
    actions: queue,
    drag,
    rules,
    hint,
    isDisabled,
  };
}

export type UploadProps<Result = unknown> = Partial<UploadOptions<unknown, Result>> & {
  /** What `useUpload` returned, to share one list between components; otherwise `route` makes a list. */
  upload?: Upload<Result> | undefined;
};

/** The list a component was given, or one of its own. */
export function useGivenUpload<Result>(
  props: UploadProps<Result>,
  defaults?: Partial<UploadOptions>,
): Upload<Result> {
  const own = useUpload<unknown, Result>({
    ...(defaults as Partial<UploadOptions<unknown, Result>>),
    ...props,
    route: props.route ?? "",
  });
  return props.upload ?? own;
}
