import { Counter, type Registry } from "prom-client";

export interface TransferMetrics {
  countCutReader(): void;
  countCutSender(): void;
  countRefusedConnection(): void;
}

export function createTransferMetrics(registry: Registry): TransferMetrics {
  const cut = new Counter({
    name: "upstow_cut_connections_total",
    help: "Connections ended because the client stalled or was too slow.",
    labelNames: ["side"],
    registers: [registry],
  });
  const refused = new Counter({
    name: "upstow_refused_connections_total",
    help: "Connections refused because their address had too many open.",
    registers: [registry],
  });
  const [readers, senders] = [cut.labels("reader"), cut.labels("sender")];
  for (const counter of [readers, senders]) counter.inc(0);
  return {
    countCutReader: () => readers.inc(),
    countCutSender: () => senders.inc(),
    countRefusedConnection: () => refused.inc(),
  };
}
