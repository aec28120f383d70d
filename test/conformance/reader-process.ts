import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Asked, Read, ReaderName } from './reader.ts';

// Tests run from the sources, and what they start from what was built.
const program = import.meta.url.endsWith('.ts') ? '../../dist/test/conformance/reader.js' : './reader.js';

/**
 * An extractor in a process of its own, as it is at work: whatever one leaves behind, in memory or uncompiled, is not
 * counted as the other's.
 */
export class ReaderProcess<Name extends ReaderName> {
  readonly #child: ChildProcess;

  constructor(name: Name) {
    this.#child = fork(fileURLToPath(new URL(program, import.meta.url)), [name], {
      execArgv: [],
      // Dates stay dates.
      serialization: 'advanced',
    });
  }

  /** Reads some pages one after another; the CPU time is that of reading alone, in all threads of the process. */
  async read(pages: Asked[]): Promise<Read<Name>> {
    const ended = new AbortController();
    const { signal } = ended;
    try {
      this.#child.send(pages);
      return await Promise.race([
        once(this.#child, 'message', { signal }).then(([answer]) => answer as Read<Name>),
        once(this.#child, 'exit', { signal }).then(([code, by]) => {
          throw new Error(`the reader of pages ended with ${code ?? by}`);
        }),
      ]);
    } finally {
      ended.abort();
    }
  }

  /** Lets it end. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
