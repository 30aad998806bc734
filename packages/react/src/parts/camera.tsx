import { useEffect, useRef, useState } from "react";
import { CameraIcon } from "./icons.tsx";

export interface CameraWords {
  takePhoto: string;
  noCamera: string;
}

/** Shows the camera's picture and takes photos. The camera is turned off as soon as it is hidden. */
export function Camera({ words, onPhoto }: { words: CameraWords; onPhoto(file: File): void }) {
  const video = useRef<HTMLVideoElement>(null);
  const [isMissing, setIsMissing] = useState(false);
  useEffect(() => {
    let stream: MediaStream | undefined;
    let isMounted = true;
    const stop = () => {
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    async function begin() {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
      if (!isMounted) return stop();
      if (video.current !== null) video.current.srcObject = stream;
    }
    begin().catch(() => setIsMissing(true));
    return () => {
      isMounted = false;
      stop();
    };
  }, []);

  const takePhoto = async () => {
    const source = video.current;
    if (source === null || source.videoWidth === 0) return;
    const canvas = document.createElement("canvas");
    canvas.width = source.videoWidth;
    canvas.height = source.videoHeight;
    canvas.getContext("2d")?.drawImage(source, 0, 0);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
    if (blob !== null) onPhoto(new File([blob], `photo-${Date.now()}.jpg`, { type: "image/jpeg" }));
  };
  if (isMissing) return <p className="us-empty">{words.noCamera}</p>;
  return (
    <div className="us-camera">
      <video ref={video} className="us-camera-picture" autoPlay muted playsInline />
      <button type="button" className="us-button" onClick={() => void takePhoto()}>
        <CameraIcon />
        {words.takePhoto}
      </button>
    </div>
  );
}
