"use client";

import { type ReactNode, useEffect, useRef, useState } from "react";
import { formatBytes } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import type { UploadItem } from "../core/types.ts";
import { type UploadPropsWithout, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileRows } from "../parts/file-rows.tsx";
import { CheckIcon, PlusIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { Thumb } from "../parts/thumb.tsx";
import { TotalTrack } from "../parts/total-track.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type UploadWizardProps = UploadPropsWithout<"autoStart"> & {
  words?: Partial<typeof english>;
  classNames?: ClassNames<"root" | "steps" | "body" | "list" | "item">;
};

const english = {
  choose: "Choose",
  review: "Review",
  send: "Upload",
  done: "Done",
  name: (name: string) => `Name of ${name}`,
  more: "Add more",
  again: "Upload more",
  finished: "All files are uploaded.",
};

const steps = ["choose", "review", "send", "done"] as const;
type Step = (typeof steps)[number];

/** Choose, look it over and rename, upload, done: one step at a time. */
export function UploadWizard({ words, classNames, ...props }: UploadWizardProps) {
  const upload = useGivenUpload(props, { autoStart: false });
  const said = { ...english, ...words };
  const heading = useRef<HTMLHeadingElement>(null);
  const [names, setNames] = useState<Record<string, string>>({});
  const step = findStep(upload.items);
  const staged = upload.items.filter(({ status }) => status === "staged");

  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever listens to the page is told about each new step
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [step]);

  const send = () => {
    for (const { id, file } of staged) {
      const name = names[id]?.trim();
      if (!name || name === file.name) continue;
      upload.remove(id);
      upload.add([new File([file], name, { type: file.type, lastModified: file.lastModified })]);
    }
    upload.start();
  };
  const bodies: Record<Step, ReactNode> = {
    choose: (
      <>
        <ChooseButton upload={upload} />
        {upload.hint !== "" && <p className="us-hint">{upload.hint}</p>}
        <UnfinishedRows upload={upload} classNames={classNames} />
        <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
      </>
    ),
    review: (
      <>
        <ul className={cx("us-wizard-review", classNames?.list)}>
          {staged.map((item) => (
            <ReviewRow
              key={item.id}
              item={item}
              label={said.name(item.file.name)}
              value={names[item.id] ?? item.file.name}
              onRename={(name) => setNames({ ...names, [item.id]: name })}
              remove={<FileActions item={item} actions={upload.actions} />}
            />
          ))}
        </ul>
        <div className="us-wizard-buttons">
          <button {...upload.getButtonProps()} className="us-button" data-quiet="">
            <PlusIcon />
            {said.more}
          </button>
          <button type="button" className="us-button" onClick={send}>
            {said.send}
          </button>
        </div>
      </>
    ),
    send: (
      <>
        <TotalTrack upload={upload} className="us-wizard-track" />
        <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
      </>
    ),
    done: (
      <>
        <p className="us-wizard-finished">
          <CheckIcon />
          {said.finished}
        </p>
        <button type="button" className="us-button" data-quiet="" onClick={() => upload.clear()}>
          {said.again}
        </button>
      </>
    ),
  };
  return (
    <Root upload={upload} className={cx("us-wizard", classNames?.root)}>
      <ol className={cx("us-wizard-steps", classNames?.steps)}>
        {steps.map((name, i) => (
          <li
            key={name}
            className="us-wizard-step"
            aria-current={name === step ? "step" : undefined}
            data-past={i < steps.indexOf(step) ? "" : undefined}
          >
            <span className="us-wizard-number" aria-hidden="true">
              {i + 1}
            </span>
            {said[name]}
          </li>
        ))}
      </ol>
      <div className={cx("us-wizard-body", classNames?.body)}>
        <h3 ref={heading} tabIndex={-1} className="us-title">
          {said[step]}
        </h3>
        {bodies[step]}
      </div>
    </Root>
  );
}

function findStep(items: readonly UploadItem[]): Step {
  const has = (status: string) => items.some((item) => item.status === status);
  if (has("staged")) return "review";
  if (items.every(({ status }) => status === "rejected")) return "choose";
  return items.every(({ status }) => status === "done" || status === "rejected") ? "done" : "send";
}

interface ReviewRowProps {
  item: UploadItem;
  label: string;
  value: string;
  onRename(name: string): void;
  remove: ReactNode;
}

function ReviewRow({ item, label, value, onRename, remove }: ReviewRowProps) {
  const { locale } = useSurroundings();
  return (
    <li className="us-wizard-file">
      <Thumb item={item} />
      <input
        className="us-wizard-name"
        value={value}
        aria-label={label}
        onChange={({ currentTarget }) => onRename(currentTarget.value)}
      />
      <span className="us-meta">{formatBytes(item.totalBytes, locale)}</span>
      {remove}
    </li>
  );
}
