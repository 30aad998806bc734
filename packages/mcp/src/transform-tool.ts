import { z } from "zod";
import { defineTool, ToolError } from "./tool.ts";

const patienceMs = 30_000;

/** Offered over stdio only, with the key of the environment: a key is never a tool's argument. */
export function createTransformTool(baseUrl: string, apiKey: string) {
  return defineTool({
    name: "transform_image",
    title: "Create an image variant",
    description:
      "Returns the CDN URL of a resized or re-encoded variant of a stored image. Counts towards the plan's monthly transform units.",
    hasEffect: true,
    input: z.object({
      key: z.string().min(1).max(1024).describe("Storage key of the file"),
      width: z.number().int().min(1).max(4096).optional(),
      height: z.number().int().min(1).max(4096).optional(),
      fit: z.enum(["scale-down", "contain", "cover", "crop", "pad"]).optional(),
      quality: z.number().int().min(1).max(100).optional(),
      format: z.enum(["auto", "avif", "webp", "jpeg", "png"]).optional(),
      gravity: z
        .enum(["attention", "entropy", "focus", "n", "ne", "e", "se", "s", "sw", "w", "nw"])
        .describe("The part to keep when the image is cropped")
        .optional(),
      background: z
        .string()
        .length(6)
        .regex(/^[0-9a-f]+$/)
        .describe("Color behind transparent and padded parts, as rrggbb")
        .optional(),
      blur: z.number().int().min(1).max(100).optional(),
      rotate: z.literal([90, 180, 270]).describe("Degrees clockwise, before the image is resized").optional(),
      delivery: z.enum(["signed", "public"]).optional(),
    }),
    async run(_sources, input) {
      const answer = await post(`${baseUrl}/api/v1/transforms/image`, apiKey, input);
      if (answer === null)
        throw new ToolError(`No response from ${baseUrl}; check UPSTOW_URL and that the service is running.`);
      const { error } = answer;
      if (error !== undefined)
        throw new ToolError([error.message, error.suggestion].filter(Boolean).join(" "));
      return answer;
    },
  });
}

interface Answer {
  error?: { message: string; suggestion?: string };
}

/** The service's response; null if nothing, or another program, responds. */
async function post(url: string, apiKey: string, input: object): Promise<Answer | null> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(patienceMs),
    });
    const answer = (await response.json()) as Answer | null;
    return response.ok || answer?.error?.message !== undefined ? answer : null;
  } catch {
    return null;
  }
}
