import type * as contract from "@upstow/contract";
import type { Static, TSchema } from "typebox";
import type * as wire from "../../src/wire/index.ts";

/** The published types are written by hand so that they read well and need no other package; here they are held. */
// Not by assignability alone: a type that lacks an optional property is assignable both ways. Written out, because an alias
// for the function would be compared by its argument.
type Same<A, B> =
  (<X>() => X extends Flat<A> ? 1 : 2) extends <X>() => X extends Flat<B> ? 1 : 2 ? true : false;
type AllSame<Pairs extends Record<string, true>> = Pairs;
type Flat<T> = T extends readonly (infer Item)[]
  ? Flat<Item>[]
  : T extends object
    ? { [Key in keyof T]: Flat<T[Key]> }
    : T;
type Of<Schema> = Schema extends TSchema ? Static<Schema> : never;
type Contract = typeof contract;

export type Agreements = AllSame<{
  codes: Same<wire.ErrorCode, contract.ErrorCode>;
  error: Same<wire.ErrorBody, contract.ErrorBody>;
  fileListItem: Same<wire.FileListItem, contract.FileListItem>;
  completedFile: Same<wire.CompletedFile, contract.CompletedFile>;
  file: Same<wire.FileObject, contract.FileObject>;
  fileQuery: Same<Omit<wire.FileQuery, "metadata">, Omit<contract.FileQuery, "metadata.{key}">>;
  updateFile: Same<wire.UpdateFileBody, contract.UpdateFileBody>;
  bulkDelete: Same<wire.BulkDeleteResult, Of<Contract["BulkDeleteResult"]>>;
  claimed: Same<wire.ClaimedFiles, Of<Contract["ClaimedFiles"]>>;
  restored: Same<wire.RestoredFiles, Of<Contract["RestoredFiles"]>>;
  requestUpload: Same<wire.RequestUploadBody, contract.RequestUploadBody>;
  importUpload: Same<wire.ImportUploadBody, contract.ImportUploadBody>;
  requested: Same<wire.RequestedUpload, Of<Contract["RequestedUpload"]>>;
  complete: Same<wire.CompleteUploadBody, Of<Contract["CompleteUploadBody"]>>;
  initiated: Same<wire.InitiatedMultipart, Of<Contract["InitiatedMultipart"]>>;
  completeMultipart: Same<wire.CompleteMultipartBody, contract.CompleteMultipartBody>;
  abort: Same<wire.MultipartRef, Of<Contract["AbortMultipartBody"]>>;
  sign: Same<wire.SignPartsBody, contract.SignPartsBody>;
  signed: Same<wire.SignedParts, Of<Contract["SignedParts"]>>;
  received: Same<wire.ReceivedParts, Of<Contract["ReceivedParts"]>>;
  createLinks: Same<wire.CreateLinksBody, contract.CreateLinksBody>;
  createdLinks: Same<wire.CreatedLinks, Of<Contract["CreatedLinks"]>>;
  createGrant: Same<wire.CreateGrantBody, contract.CreateGrantBody>;
  grant: Same<wire.Grant, contract.Grant>;
  createUploadGrant: Same<wire.CreateUploadGrantBody, contract.CreateUploadGrantBody>;
  uploadGrant: Same<wire.UploadGrant, contract.UploadGrant>;
  revokeLinks: Same<wire.RevokeLinksBody, contract.RevokeLinksBody>;
  revokedLinks: Same<wire.RevokedLinks, Of<Contract["RevokedLinks"]>>;
  readKeys: Same<wire.ReadKeys, contract.ReadKeys>;
  project: Same<wire.Project, contract.Project>;
  projectListItem: Same<wire.ProjectListItem, contract.ProjectListItem>;
  createProject: Same<wire.CreateProjectBody, Of<Contract["CreateProjectBody"]>>;
  createdProject: Same<wire.CreatedProject, contract.CreatedProject>;
  updateProject: Same<wire.UpdateProjectBody, Of<Contract["UpdateProjectBody"]>>;
  router: Same<wire.Router, contract.Router>;
  createRouter: Same<wire.CreateRouterBody, contract.CreateRouterBody>;
  updateRouter: Same<wire.UpdateRouterBody, contract.UpdateRouterBody>;
  key: Same<wire.ApiKey, contract.ApiKey>;
  createKey: Same<wire.CreateKeyBody, contract.CreateKeyBody>;
  createdKey: Same<wire.CreatedKey, Of<Contract["CreatedKey"]>>;
  usage: Same<wire.Usage, contract.Usage>;
  usageHistory: Same<{ usage: wire.UsageRecord[] }, Of<Contract["UsageHistory"]>>;
  log: Same<wire.Log, contract.Log>;
  logQuery: Same<wire.LogQuery, Of<Contract["LogQuery"]>>;
  pageQuery: Same<wire.PageQuery, Of<Contract["PageQuery"]>>;
  transform: Same<wire.TransformImageBody, contract.TransformImageBody>;
  transformed: Same<wire.TransformedImage, contract.TransformedImage>;
  delivery: Same<wire.Delivery, contract.Delivery>;
  deliveryDetail: Same<wire.DeliveryDetail, contract.DeliveryDetail>;
  deliveryQuery: Same<wire.DeliveryQuery, contract.DeliveryQuery>;
  redeliver: Same<wire.RedeliverBody, contract.RedeliverBody>;
  redelivered: Same<wire.RedeliverResult, contract.RedeliverResult>;
  signingKeys: Same<wire.SigningKeys, contract.SigningKeys>;
  rotate: Same<{ force?: boolean }, Of<Contract["RotateKeysBody"]>>;
  payload: Same<wire.EventPayload, contract.EventPayload>;
  event: Same<wire.StreamedEvent, contract.StreamedEvent>;
}>;

// @ts-expect-error a difference is seen
export type Difference = AllSame<{ usage: Same<wire.Usage, wire.Log> }>;
// @ts-expect-error so is an optional property that only one side has
export type MissingOption = AllSame<{ query: Same<wire.PageQuery, wire.LogQuery> }>;
