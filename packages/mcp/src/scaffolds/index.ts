export { getByosConfig, STORAGE_PROVIDERS, type StorageProvider } from "./byos.ts";
export {
  DEFAULT_INSTANCE,
  PACKAGE_MANAGERS,
  PACKAGES,
  type Package,
  type PackageManager,
  packageUrl,
  renderInstallCommand,
  USUAL_PACKAGES,
} from "./install-command.ts";
export { renderProvider } from "./provider.ts";
export { renderReadHandler } from "./read-handler.ts";
export {
  FRAMEWORKS,
  type Framework,
  INIT_FRAMEWORKS,
  type RouteHandlerOptions,
  renderRouteHandler,
  renderViteServer,
  type SourceFile,
} from "./route-handler.ts";
export { forSvelteKit2, renderSvelteEnv } from "./svelte-env.ts";
