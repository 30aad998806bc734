import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";

const [, , port, directory, path] = process.argv;
const datastore = new FileStore({ directory: directory ?? "" });
new Server({ path: path ?? "", datastore }).listen({ host: "127.0.0.1", port: Number(port) });
