import { type RefObject, useEffect, useRef, useState } from "react";

/** As far as people scroll while an image loads. */
const rootMargin = "600px";

/** Whether an image is or was close to the viewport. Always true unless it is lazy. */
export function useIsNear(isLazy: boolean): [RefObject<HTMLImageElement | null>, boolean] {
  const image = useRef<HTMLImageElement | null>(null);
  const [wasNear, setWasNear] = useState(false);
  const isNear = wasNear || !isLazy;
  useEffect(() => {
    if (isNear || image.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setWasNear(true),
      { rootMargin },
    );
    observer.observe(image.current);
    return () => observer.disconnect();
  }, [isNear]);
  return [image, isNear];
}
