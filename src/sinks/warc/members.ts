import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';

const headBytes = 10;
const trailerBytes = 8;
const firstWindowBytes = 1024 * 1024;
// A record holds at most the kept body of one response; what does not end within this is none of ours.
const mostMemberBytes = 64 * 1024 * 1024;

/** Where the last whole gzip member of a file of ours ends; members are read from the beginning, as bytes may lie. */
export async function lastMemberEnd(handle: FileHandle, bytes: number): Promise<number> {
  let end = 0;
  let windowBytes = firstWindowBytes;
  while (end < bytes && windowBytes <= mostMemberBytes) {
    const window = Buffer.alloc(Math.min(windowBytes, bytes - end));
    const { bytesRead } = await handle.read(window, 0, window.length, end);
    const whole = await wholeMembers(window.subarray(0, bytesRead));
    if (whole > 0) {
      end += whole;
      windowBytes = firstWindowBytes;
    } else if (window.length < windowBytes) return end;
    else windowBytes *= 4;
  }
  return end;
}

/** How many bytes at the beginning are whole members. */
async function wholeMembers(bytes: Buffer): Promise<number> {
  let end = 0;
  for (;;) {
    const length = memberLength(bytes.subarray(end));
    if (length === null) return end;
    end += length;
    // A file may have a hundred thousand.
    await setImmediate();
  }
}

function memberLength(bytes: Buffer): number | null {
  // As zlib writes them here: no name, no comment.
  if (bytes.length < headBytes || bytes.readUInt32BE(0) !== 0x1f8b0800) return null;
  try {
    const { engine } = inflateRawSync(bytes.subarray(headBytes), { info: true }) as unknown as {
      engine: { bytesWritten: number };
    };
    const length = headBytes + engine.bytesWritten + trailerBytes;
    return length <= bytes.length ? length : null;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'Z_BUF_ERROR' || code === 'Z_DATA_ERROR') return null;
    throw error;
  }
}
