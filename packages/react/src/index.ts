export { AttachmentTray, type AttachmentTrayProps } from "./components/attachment-tray.tsx";
export { AvatarUpload, type AvatarUploadProps } from "./components/avatar-upload.tsx";
export { ButtonMorph, type ButtonMorphProps } from "./components/button-morph.tsx";
export { ButtonSplit, type ButtonSplitProps } from "./components/button-split.tsx";
export { ButtonUndo, type ButtonUndoProps } from "./components/button-undo.tsx";
export { ChatAttachments, type ChatAttachmentsProps } from "./components/chat-attachments.tsx";
export { type BentoKind, DropzoneBento, type DropzoneBentoProps } from "./components/dropzone-bento.tsx";
export { DropzoneGlass, type DropzoneGlassProps } from "./components/dropzone-glass.tsx";
export { DropzoneMinimal, type DropzoneMinimalProps } from "./components/dropzone-minimal.tsx";
export { DropzonePage, type DropzonePageProps } from "./components/dropzone-page.tsx";
export { DropzoneTerminal, type DropzoneTerminalProps } from "./components/dropzone-terminal.tsx";
export { FileList, type FileListProps } from "./components/file-list.tsx";
export { FilePreview, type FilePreviewProps } from "./components/file-preview.tsx";
export { GalleryGrid, type GalleryGridProps } from "./components/gallery-grid.tsx";
export { GalleryKanban, type GalleryKanbanProps } from "./components/gallery-kanban.tsx";
export { GalleryPolaroid, type GalleryPolaroidProps } from "./components/gallery-polaroid.tsx";
export { GalleryTimeline, type GalleryTimelineProps } from "./components/gallery-timeline.tsx";
export { MotionCelebrate, type MotionCelebrateProps } from "./components/motion-celebrate.tsx";
export { MotionConveyor, type MotionConveyorProps } from "./components/motion-conveyor.tsx";
export { MotionMagnet, type MotionMagnetProps } from "./components/motion-magnet.tsx";
export { MotionStack, type MotionStackProps } from "./components/motion-stack.tsx";
export { NotificationPanel, type NotificationPanelProps } from "./components/notification-panel.tsx";
export { PrivateImage, type PrivateImageProps } from "./components/private-image.tsx";
export { ProgressBar, type ProgressBarProps } from "./components/progress-bar.tsx";
export { ProgressLiquid, type ProgressLiquidProps } from "./components/progress-liquid.tsx";
export { ProgressOrbit, type ProgressOrbitProps } from "./components/progress-orbit.tsx";
export { ProgressRadial, type ProgressRadialProps } from "./components/progress-radial.tsx";
export { ProgressStacked, type ProgressStackedProps } from "./components/progress-stacked.tsx";
export { type Source, SourceTabs, type SourceTabsProps } from "./components/source-tabs.tsx";
export { UploadButton, type UploadButtonProps } from "./components/upload-button.tsx";
export { UploadDropzone, type UploadDropzoneProps } from "./components/upload-dropzone.tsx";
export { UploadField, type UploadFieldProps } from "./components/upload-field.tsx";
export { UploadFromUrl, type UploadFromUrlProps } from "./components/upload-from-url.tsx";
export { UploadModal, type UploadModalProps } from "./components/upload-modal.tsx";
export { UploadWizard, type UploadWizardProps } from "./components/upload-wizard.tsx";
export { UpstowImage, type UpstowImageProps } from "./components/upstow-image.tsx";
export { describeStatus, formatBytes, formatPercent, formatSeconds } from "./core/format.ts";
export { defaultLabels, type Labels } from "./core/labels.ts";
export type { PrivateUrlState } from "./core/private-urls.ts";
export type { Drag, ItemAction, PropGetters } from "./core/prop-getters.ts";
export { actionProps, progressProps, progressStyle } from "./core/prop-getters.ts";
export {
  UpstowProvider,
  type UpstowProviderProps,
  useLabels,
  useSurroundings,
  useUploader,
} from "./core/provider.tsx";
export type { UploadActions } from "./core/queue.ts";
export { findFault } from "./core/rules.ts";
export { isUnderWay } from "./core/summarize.ts";
export { generateReactHelpers, type ReactHelpers } from "./core/typed.ts";
// A star export, because applications can augment an interface (`Register`) only through one.
export type * from "./core/types.ts";
export { useAllUploads } from "./core/use-all-uploads.ts";
export { usePageDrag } from "./core/use-page-drag.ts";
export { type PrivateUrl, type PrivateUrlOptions, usePrivateUrl } from "./core/use-private-url.ts";
export {
  type Upload,
  type UploadProps,
  type UploadPropsWithout,
  useGivenUpload,
  useUpload,
} from "./core/use-upload.ts";
