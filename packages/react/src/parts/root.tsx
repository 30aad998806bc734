import type { HTMLAttributes } from "react";
import { useLabels } from "../core/provider.tsx";
import type { Upload } from "../core/use-upload.ts";
import { cx } from "./class-names.ts";

interface RootProps extends HTMLAttributes<HTMLElement> {
  upload: Upload;
  /** Shows a list that belongs to another component, which has the input and speaks for it. */
  isView?: boolean;
  /** A click on anything that is no control opens the chooser. */
  isClickable?: boolean;
}

/** The outermost element: takes drops and pastes, holds the input, tells screen readers what happens. */
export function Root({
  upload,
  isView = false,
  isClickable = false,
  className,
  children,
  ...rest
}: RootProps) {
  const labels = useLabels();
  const props = isClickable ? upload.getDropzoneProps(rest) : upload.getRootProps(rest);
  return (
    <div {...props} className={cx("us-ui", className)}>
      {isView || <input {...upload.getInputProps()} />}
      {children}
      {isView || (
        <span {...upload.getStatusProps()} className="us-sr">
          {upload.announcement}
        </span>
      )}
      {isView || upload.isOnline || (
        <p className="us-offline" role="alert">
          {labels.offline}
        </p>
      )}
    </div>
  );
}
