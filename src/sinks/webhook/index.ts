export { createWebhookSink, type WebhookOptions } from './webhook-sink.ts';
