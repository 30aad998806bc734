// Every <Image> of next/image asks Upstow for the width it needs, and no server of yours resizes anything.
export { default } from "@upstow/sdk/next-image";
