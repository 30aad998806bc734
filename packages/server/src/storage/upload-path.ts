/** Where presigned URLs of the embedded store begin. */
export const uploadPath = "/u/";
