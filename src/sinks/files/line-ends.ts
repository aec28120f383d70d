import type { FileHandle } from 'node:fs/promises';

const windowBytes = 65_536;
const newline = 10;

/** Where the last whole line of a file ends. */
export async function lastLineEnd(handle: FileHandle, bytes: number): Promise<number> {
  const window = Buffer.alloc(windowBytes);
  for (let end = bytes; end > 0; ) {
    const start = Math.max(0, end - windowBytes);
    const { bytesRead } = await handle.read(window, 0, end - start, start);
    const at = window.subarray(0, bytesRead).lastIndexOf(newline);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}
