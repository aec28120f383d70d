import { parentPort, workerData } from 'node:worker_threads';
import { type PartOrder, type PartWord, runPart } from './parts.ts';

const say = (word: PartWord): void => parentPort!.postMessage(word);
say({ outcome: runPart(workerData as PartOrder, (day) => say({ day })) });
