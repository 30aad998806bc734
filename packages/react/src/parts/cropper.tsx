import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { type Crop, clampCrop, cropToFile, drawCrop, panCrop } from "./crop.ts";

export interface CropperWords {
  move: string;
  zoom: string;
  save: string;
  back: string;
}

interface CropperProps {
  file: File;
  /** Width and height of the result in pixels. */
  sizePx: number;
  words: CropperWords;
  onCropped(file: File): void;
  onBack(): void;
  /** The browser cannot decode the file as an image. */
  onUnreadable(): void;
}

const step = 0.04;
const steps: Record<string, [number, number]> = {
  ArrowLeft: [-step, 0],
  ArrowRight: [step, 0],
  ArrowUp: [0, -step],
  ArrowDown: [0, step],
};

/** A round window over a picture: moved by dragging or with the arrow keys, zoomed with a slider. */
export function Cropper({ file, sizePx, words, onCropped, onBack, onUnreadable }: CropperProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const held = useRef<{ x: number; y: number } | null>(null);
  const [image, setImage] = useState<ImageBitmap | null>(null);
  const [crop, setCrop] = useState<Crop>({ zoom: 1, x: 0, y: 0 });

  useEffect(() => {
    let isMounted = true;
    createImageBitmap(file).then(
      (read) => isMounted && setImage(read),
      () => isMounted && onUnreadable(),
    );
    return () => {
      isMounted = false;
    };
  }, [file, onUnreadable]);
  useEffect(() => {
    if (canvas.current !== null && image !== null) drawCrop(canvas.current, image, crop);
  }, [image, crop]);

  const pan = (dx: number, dy: number) => image && setCrop((before) => panCrop(before, image, dx, dy));
  const onPointerMove = ({ clientX: x, clientY: y, currentTarget }: PointerEvent<HTMLElement>) => {
    if (held.current === null) return;
    pan((x - held.current.x) / currentTarget.clientWidth, (y - held.current.y) / currentTarget.clientWidth);
    held.current = { x, y };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = steps[event.key];
    if (move === undefined) return;
    event.preventDefault();
    pan(...move);
  };
  return (
    <div className="us-crop">
      <div
        className="us-crop-window"
        role="application"
        aria-label={words.move}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys need somewhere to go
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={({ clientX: x, clientY: y, currentTarget, pointerId }) => {
          currentTarget.setPointerCapture(pointerId);
          held.current = { x, y };
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => {
          held.current = null;
        }}
      >
        <canvas ref={canvas} width={320} height={320} />
      </div>
      <label className="us-crop-zoom">
        <span className="us-sr">{words.zoom}</span>
        <input
          type="range"
          min={1}
          max={5}
          step={0.05}
          value={crop.zoom}
          onChange={({ currentTarget }) => setCrop(clampCrop({ ...crop, zoom: Number(currentTarget.value) }))}
        />
      </label>
      <div className="us-crop-buttons">
        <button type="button" className="us-button" data-quiet="" onClick={onBack}>
          {words.back}
        </button>
        <button
          type="button"
          className="us-button"
          disabled={image === null}
          onClick={() => image && void cropToFile(file, image, crop, sizePx).then(onCropped)}
        >
          {words.save}
        </button>
      </div>
    </div>
  );
}
