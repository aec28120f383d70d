import { testSink } from './conformance.ts';
import { startWebhookWorld } from './webhook-world.ts';

testSink('webhook', startWebhookWorld);
