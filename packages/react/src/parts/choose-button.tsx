import type { ReactNode } from "react";
import { useLabels } from "../core/provider.tsx";
import type { Upload } from "../core/use-upload.ts";
import { cx } from "./class-names.ts";
import { UploadIcon } from "./icons.tsx";

interface ChooseButtonProps {
  upload: Upload;
  className?: string | undefined;
  icon?: ReactNode;
  children?: ReactNode;
}

/** Opens the file chooser. */
export function ChooseButton({ upload, className, icon = <UploadIcon />, children }: ChooseButtonProps) {
  const labels = useLabels();
  const isSingle = upload.rules.maxFileCount === 1;
  return (
    <button {...upload.getButtonProps()} className={cx("us-button", className)}>
      {icon}
      {children ?? (isSingle ? labels.chooseFile : labels.chooseFiles)}
    </button>
  );
}
