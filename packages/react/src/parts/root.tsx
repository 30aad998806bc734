import type { HTMLAttributes } from "react";
import { useLabels } from "../core/provider.tsx";
import type { Upload } from "../core/use-upload.ts";
import { cx } from "./class-names.ts";

interface RootProps extends HTMLAttributes<HTMLElement> {
  upload: Upload;
  /** Shows a list owned by another component, which renders the input and the announcements. */
  isView?: boolean;
  /** A click on anything but a control opens the file chooser. */
  isClickable?: boolean;
}

/** The outermost element: accepts drops and pastes, contains the input, announces changes to screen readers. */
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
