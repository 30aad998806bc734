/**
 * What is due at one endpoint, in the order in which it is sent. Without the id, a claim would sort all messages that
 * became due at the same moment, as they do when many are redelivered.
 */
export const webhookOrder = `
CREATE INDEX webhook_message_due ON webhook_message (endpoint_id, run_at, id) WHERE state = 'ready';
DROP INDEX webhook_message_ready;
`;
