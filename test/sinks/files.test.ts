import { testSink } from './conformance.ts';
import { startFileWorld } from './file-world.ts';

testSink('files', async () => startFileWorld());
