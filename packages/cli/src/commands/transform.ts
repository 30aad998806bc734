import type { TransformImageBody } from "@upstow/sdk";
import { type Command, type Options, UsageError } from "../command.ts";
import { connect } from "../connection.ts";
import { readChoice } from "../option-values.ts";

const fits = ["scale-down", "contain", "cover", "crop", "pad"] as const;
const formats = ["auto", "avif", "webp", "jpeg", "png"] as const;
const deliveries = ["signed", "public"] as const;

export const transform: Command = {
  name: "transform",
  summary: "Get the URL of a resized or re-encoded variant of an image",
  positionals: [{ name: "key", description: "the image's storage key" }],
  options: {
    width: { value: "PX", description: "1 to 4096; width or height is required" },
    height: { value: "PX", description: "1 to 4096" },
    fit: { value: "F", description: `${fits.join(", ")} (default: scale-down)` },
    quality: { value: "Q", description: "1 to 100 (default: 85)" },
    format: { value: "F", description: `${formats.join(", ")} (default: auto)` },
    delivery: { value: "D", description: "signed (expires) or public (never expires)" },
  },
  notes: "Needs a live key of an account that is not on the Free tier.",
  async run(call) {
    const [key = ""] = call.positionals;
    const variant = await (await connect(call)).transforms.image({ key, ...readRecipe(call.options) });
    const { used, limit, units, counted } = variant.usage;
    return {
      json: variant,
      text: `${variant.url}
${variant.expiresAt === null ? "Never expires" : `Until ${variant.expiresAt}`}; ${counted ? `${units} units` : "no units"}, ${used} of ${limit} this month.`,
    };
  },
};

function readRecipe(options: Options): Omit<TransformImageBody, "key"> {
  const recipe: Omit<TransformImageBody, "key"> = {};
  for (const [name, most] of [
    ["width", 4096],
    ["height", 4096],
    ["quality", 100],
  ] as const) {
    const text = options.find(name);
    if (text === undefined) continue;
    if (!/^\d{1,4}$/.test(text) || Number(text) < 1 || Number(text) > most) {
      throw new UsageError(`--${name} must be a whole number from 1 to ${most}, not "${text}".`);
    }
    recipe[name] = Number(text);
  }
  if (recipe.width === undefined && recipe.height === undefined) {
    throw new UsageError("Pass --width, --height or both.");
  }
  const [fit, format, delivery] = ["fit", "format", "delivery"].map((name) => options.find(name));
  if (fit !== undefined) recipe.fit = readChoice("--fit", fit, fits);
  if (format !== undefined) recipe.format = readChoice("--format", format, formats);
  if (delivery !== undefined) recipe.delivery = readChoice("--delivery", delivery, deliveries);
  return recipe;
}
