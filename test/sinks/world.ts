import type { Sink } from '../../src/sinks/index.ts';

/** What a sink holds of one document: the version or, where it has none, the text. */
export type Received = { id: string; text: string; times: number };

/** The other side of a sink, which tests may look into and break. */
export type SinkWorld = {
  sink: Sink;
  /** Another deliverer's own instance for the same other side. */
  again(): Sink;
  /** What is there, by document id; `times` counts what a reader would take for two documents. */
  received(): Promise<Map<string, Received>>;
  /** Nothing can be delivered until mended. */
  break(): Promise<void>;
  mend(): Promise<void>;
  /** Refuses documents whose title has this word; missing where a sink takes everything. */
  refuse?(word: string | null): void;
  close(): Promise<void>;
};
