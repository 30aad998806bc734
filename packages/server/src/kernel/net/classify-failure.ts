import type { DeliveryErrorClass } from "@upstow/contract";

const byCode = new Map<string, DeliveryErrorClass>([
  ["EADDRREFUSED", "blocked"],
  ["ENOTFOUND", "dns"],
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["ECONNABORTED", "reset"],
  ["EPIPE", "reset"],
  ["EHOSTUNREACH", "unreachable"],
  ["ENETUNREACH", "unreachable"],
  ["EHOSTDOWN", "unreachable"],
  ["ENETDOWN", "unreachable"],
  ["EADDRNOTAVAIL", "unreachable"],
  ["EACCES", "unreachable"],
  ["EPERM", "unreachable"],
  ["ETIMEDOUT", "timeout"],
  ["EPROTO", "tls"],
]);

/** OpenSSL's and Node's names for certificate and handshake errors. */
const tlsCode = /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C)|SELF_SIGNED|SIGNATURE_FAILURE|_CERT$/;

/** Null on success, which is 2xx only: a redirect would bypass the address guard. */
export function classifyStatus(statusCode: number): DeliveryErrorClass | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode >= 300 && statusCode < 400) return "redirect";
  if (statusCode >= 400 && statusCode < 500) return "client_error";
  return statusCode >= 500 && statusCode < 600 ? "server_error" : "invalid_response";
}

export function classifyError(error: unknown): DeliveryErrorClass {
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  const known = byCode.get(code);
  if (known !== undefined) return known;
  if (code.startsWith("EAI_")) return "dns";
  if (tlsCode.test(code)) return "tls";
  return code.startsWith("HPE_") || code.startsWith("ERR_HTTP") ? "invalid_response" : "internal";
}
