import type { Metadata } from "next";
import type { ReactNode } from "react";
import { UploadProvider } from "./upload-provider";

export const metadata: Metadata = { title: "Upstow with Next.js" };

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <UploadProvider>{children}</UploadProvider>
      </body>
    </html>
  );
}
