import { randomBytes } from 'node:crypto';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';

/** How files are named and when the next one begins. */
export type SegmentOptions = {
  dir: string;
  /** `documents` gives `documents-20240506T101112345Z-1f2e.ndjson`. */
  prefix: string;
  suffix: string;
  /** Files are counted: `-00000`, `-00001`, … in the place of `-1f2e`. */
  numbered?: boolean;
  mostBytes: number;
  mostAgeMs: number;
  now: () => number;
  /** What every file begins with. */
  head?: (fileName: string) => Buffer;
  /** Where the last thing in a file ends that is whole: of a file whose saved length is not known. */
  wholeUntil: (handle: FileHandle, bytes: number) => Promise<number>;
};

/** `file` is empty where nothing has been written yet. */
type Place = { file: string; bytes: number; at: number };
/** How far the files of each folder are whole: another machine's folder has its own. */
type Position = { folders: Record<string, Place> };

const openSuffix = '.open';
const idFile = '.outrider-id';
const mostFolders = 16;

/**
 * Files that are only ever added to, and are called `….open` while they are. What was written is whole up to the
 * position that was saved in the database together with the end of the deliveries in it; on the next opening the rest is
 * cut off. That makes each delivery stand in the files once, whatever crashes.
 */
export class Segments {
  readonly #options: SegmentOptions;
  #folder = '';
  #others: Record<string, Place> = {};
  #nextNumber = 0;
  #isKnown = false;
  #file: { handle: FileHandle; name: string; bytes: number; openedAt: number } | null = null;

  constructor(options: SegmentOptions) {
    this.#options = options;
  }

  /** Makes the folder ready and goes on where the saved position says. */
  async open(position: unknown): Promise<void> {
    await this.close();
    const { dir } = this.#options;
    await mkdir(dir, { recursive: true });
    this.#folder = await this.#readId();
    const { [this.#folder]: own, ...others } = (position as Position | null)?.folders ?? {};
    this.#others = others;
    this.#isKnown = own !== undefined;
    this.#nextNumber = own === undefined || own.file === '' ? 0 : this.#numberOf(own.file) + 1;
    await this.#clear(own?.file ?? null);
    if (own === undefined || own.file === '') return;
    const path = join(dir, own.file + openSuffix);
    const bytes = await sizeOf(path);
    // Finished already, or somebody has taken it away.
    if (bytes === null) return;
    // Shorter than what was saved: the disk lost something, and the next file begins after it.
    if (bytes < own.bytes) return this.#finishLeft(own.file);
    if (bytes > own.bytes) await truncate(path, own.bytes);
    const handle = await open(path, 'a');
    this.#file = { handle, name: own.file, bytes: own.bytes, openedAt: own.at };
  }

  /** Other files that were left open: begun after the last save, nothing in them counts; without a save, all does. */
  async #clear(saved: string | null): Promise<void> {
    const { dir, prefix } = this.#options;
    for (const name of await readdir(dir)) {
      if (!name.startsWith(`${prefix}-`) || !name.endsWith(openSuffix)) continue;
      const file = name.slice(0, -openSuffix.length);
      if (saved === null) await this.#finishLeft(file);
      else if (file !== saved) await unlink(join(dir, name));
    }
  }

  /** Finishes a file that somebody left, and who may have been in the middle of writing. */
  async #finishLeft(file: string): Promise<void> {
    const { dir, wholeUntil } = this.#options;
    const path = join(dir, file + openSuffix);
    const handle = await open(path, 'r+');
    let whole: number;
    try {
      const { size } = await handle.stat();
      whole = await wholeUntil(handle, size);
      if (whole < size) await handle.truncate(whole);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await (whole === 0 ? unlink(path) : rename(path, join(dir, file)));
  }

  /**
   * Adds bytes, and makes sure that they are on the disk; answers the position to save. Into a folder that no position
   * names nothing is written yet: whoever came after a crash could not tell that nothing in its file counts.
   */
  async append(chunks: readonly Buffer[]): Promise<{ isWritten: boolean; position: object }> {
    const { mostBytes, now } = this.#options;
    if (!this.#isKnown) {
      this.#isKnown = true;
      return { isWritten: false, position: this.#position({ name: '', bytes: 0, openedAt: now() }) };
    }
    await this.finishOld();
    if (this.#file !== null && this.#file.bytes >= mostBytes) await this.#finish();
    this.#file ??= await this.#begin();
    const bytes = Buffer.concat(chunks);
    await writeWhole(this.#file.handle, bytes);
    await this.#file.handle.datasync();
    this.#file.bytes += bytes.length;
    return { isWritten: true, position: this.#position(this.#file) };
  }

  /** Finishes a file that has reached its age; asked also while nothing comes, so that nobody waits for it for ever. */
  async finishOld(): Promise<void> {
    const { mostAgeMs, now } = this.#options;
    if (this.#file !== null && now() - this.#file.openedAt >= mostAgeMs) await this.#finish();
  }

  /** Lets go of the file, which stays open for more by its name. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.handle.close();
  }

  #position({ name, bytes, openedAt }: { name: string; bytes: number; openedAt: number }): Position {
    const others = Object.entries(this.#others).sort(([, a], [, b]) => b.at - a.at);
    return {
      folders: {
        ...Object.fromEntries(others.slice(0, mostFolders - 1)),
        [this.#folder]: { file: name, bytes, at: openedAt },
      },
    };
  }

  async #begin(): Promise<{ handle: FileHandle; name: string; bytes: number; openedAt: number }> {
    const { dir, prefix, suffix, numbered, now, head } = this.#options;
    const openedAt = now();
    const stamp = new Date(openedAt).toISOString().replace(/[-:.]/g, '');
    const tail = numbered ? String(this.#nextNumber).padStart(5, '0') : randomBytes(2).toString('hex');
    const name = `${prefix}-${stamp}-${tail}${suffix}`;
    const handle = await open(join(dir, name + openSuffix), 'ax');
    const first = head?.(name) ?? Buffer.alloc(0);
    await writeWhole(handle, first);
    await syncFolder(dir);
    this.#nextNumber += 1;
    return { handle, name, bytes: first.length, openedAt };
  }

  #numberOf(file: string): number {
    const digits = file.slice(0, -this.#options.suffix.length).split('-').at(-1) ?? '';
    return /^\d{5,9}$/.test(digits) ? Number(digits) : 0;
  }

  /** All in it is saved: from now on others may take it. */
  async #finish(): Promise<void> {
    const { dir } = this.#options;
    const file = this.#file!;
    await this.close();
    await rename(join(dir, file.name + openSuffix), join(dir, file.name));
    await syncFolder(dir);
  }

  /** What tells this folder from that of another machine. */
  async #readId(): Promise<string> {
    const path = join(this.#options.dir, idFile);
    try {
      await writeFile(path, randomBytes(8).toString('hex'), { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    return (await readFile(path, 'utf8')).trim();
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
}

/** A file's name is only as safe as the folder it stands in. */
async function syncFolder(dir: string): Promise<void> {
  // Windows cannot open a folder, and has no need to.
  if (process.platform === 'win32') return;
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
