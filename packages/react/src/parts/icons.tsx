import type { ReactNode } from "react";

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="us-icon" viewBox="0 0 24 24" aria-hidden="true">
      {children}
    </svg>
  );
}

const draw = (d: string) => (
  <Icon>
    <path d={d} />
  </Icon>
);

export const UploadIcon = () => draw("M12 16V5m0 0L7.5 9.5M12 5l4.5 4.5M5 19h14");
export const CloseIcon = () => draw("M6.5 6.5l11 11m0-11l-11 11");
export const RetryIcon = () => draw("M19 12a7 7 0 1 1-2.2-5.1M19 4.5V8h-3.5");
export const PauseIcon = () => draw("M9 6.5v11m6-11v11");
export const PlayIcon = () => draw("M8.5 6v12l9-6z");
export const CheckIcon = () => draw("M5.5 12.5l4.2 4.2L18.5 8");
export const AlertIcon = () => draw("M12 7.5v5.5m0 3.2v.3M12 3.5l9 16H3z");
export const PlusIcon = () => draw("M12 5.5v13m-6.5-6.5h13");
export const FileIcon = () => draw("M7 3.5h6.5L18 8v12.5H7zM13.5 3.5V8H18");
export const ImageIcon = () => draw("M4 5.5h16v13H4zm0 10l4.5-4.5 4 4 2.5-2.5 5 5M15.5 9.2v.1");
export const CameraIcon = () => draw("M4 8h4l1.5-2.5h5L16 8h4v11H4zm8 2.2a3 3 0 1 0 0 6 3 3 0 0 0 0-6z");
export const ClipboardIcon = () => draw("M8.5 5H6v15.5h12V5h-2.5M9 3.5h6V7H9z");
export const LinkIcon = () =>
  draw("M10 14l4-4M8.5 11L6 13.5a3.2 3.2 0 0 0 4.5 4.5L13 15.5M15.5 13l2.5-2.5A3.2 3.2 0 0 0 13.5 6L11 8.5");
export const FolderIcon = () => draw("M3.5 6h6l2 2.500h9V19h-17z");
export const ClipIcon = () =>
  draw(
    "M18 11.500l-6.3 6.300a3.6 3.6 0 0 1-5.1-5.100l7-7a2.4 2.4 0 0 1 3.4 3.400l-6.9 6.900a1.2 1.2 0 0 1-1.7-1.700l6-6",
  );
export const SendIcon = () => draw("M4.5 12L20 4.5 15.5 20l-3.5-6zm7.5 2l8-9.5");
export const DownIcon = () => draw("M6.5 9.500L12 15l5.5-5.5");
export const UpIcon = () => draw("M6.5 14.500L12 9l5.5 5.5");
export const StartIcon = () => draw("M14.5 6.500L9 12l5.5 5.5");
export const EndIcon = () => draw("M9.5 6.500L15 12l-5.5 5.5");
