import { AppError, nothingKept } from "../../errors.ts";

const startAfresh = "Request a new upload and use the URL it returns.";

export const refused = (message: string) => new AppError("FORBIDDEN", message, { suggestion: startAfresh });

export const uploadEnded = () => refused("This upload has ended; its URL takes no more bytes.");

export const tooManyBytes = () =>
  new AppError("FORBIDDEN", "The parts together are larger than the file.", {
    suggestion: "Split the file so that its parts add up to the size it was announced with.",
  });

export const lengthRequired = () =>
  new AppError("VALIDATION_ERROR", "The upload needs a Content-Length.", {
    status: 411,
    suggestion: "Send the size of the body in the header 'Content-Length', without chunked encoding.",
  });

export const bodyTooSlow = () =>
  new AppError("VALIDATION_ERROR", "The body arrived too slowly and was cut off.", {
    status: 408,
    suggestion: nothingKept,
    headers: { connection: "close" },
  });
