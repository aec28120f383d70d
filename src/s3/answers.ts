import { Parser } from 'htmlparser2';

/** An object as a listing tells of it. */
export type S3Object = { key: string; bytes: number; modifiedAt: Date | null; etag: string | null };

/** The code and message of an error answer; servers in front of the store answer with anything. */
export function parseError(body: string): { code: string | null; message: string | null } {
  let code: string | null = null;
  let message: string | null = null;
  readElements(body, (path, text) => {
    if (path === 'Error/Code') code ??= text.slice(0, 100);
    if (path === 'Error/Message') message ??= text.slice(0, 300);
  });
  return { code, message };
}

/** One page of a listing; null: the answer is none. */
export function parseListing(body: string): { objects: S3Object[]; next: string | null } | null {
  const objects: S3Object[] = [];
  let isListing = false;
  let isEncoded = false;
  let isCut = false;
  let next: string | null = null;
  let object: Partial<S3Object> = {};
  readElements(body, (path, text) => {
    switch (path) {
      case 'ListBucketResult':
        isListing = true;
        return;
      case 'ListBucketResult/EncodingType':
        isEncoded = text === 'url';
        return;
      case 'ListBucketResult/IsTruncated':
        isCut = text === 'true';
        return;
      case 'ListBucketResult/NextContinuationToken':
        next = text;
        return;
      case 'ListBucketResult/Contents/Key':
        object.key = text;
        return;
      case 'ListBucketResult/Contents/Size':
        object.bytes = Number(text);
        return;
      case 'ListBucketResult/Contents/LastModified':
        object.modifiedAt = new Date(text);
        return;
      case 'ListBucketResult/Contents/ETag':
        object.etag = text;
        return;
      case 'ListBucketResult/Contents': {
        const { key, bytes, modifiedAt, etag } = object;
        object = {};
        if (key === undefined) return;
        objects.push({
          key,
          bytes: Number.isSafeInteger(bytes) ? bytes! : 0,
          modifiedAt: modifiedAt == null || Number.isNaN(modifiedAt.getTime()) ? null : modifiedAt,
          etag: etag ?? null,
        });
      }
    }
  });
  if (!isListing) return null;
  // EncodingType may come after the keys, so they are decoded at the end.
  if (isEncoded) for (const one of objects) one.key = decodeKey(one.key);
  return { objects, next: isCut ? next : null };
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    // Not encoded after all: some servers only say so.
    return key;
  }
}

/** Calls for every element that ends, with its path of names and its own text. */
function readElements(xml: string, onEnd: (path: string, text: string) => void): void {
  const open: { path: string; text: string }[] = [];
  const parser = new Parser(
    {
      onopentag(name) {
        const parent = open.at(-1)?.path;
        // Deeper than any answer of a store; the parser's own time grows with the square of the depth.
        if (open.length > 16) parser.pause();
        open.push({ path: parent === undefined ? name : `${parent}/${name}`, text: '' });
      },
      ontext(text) {
        const top = open.at(-1);
        if (top !== undefined && top.text.length < 8192) top.text += text;
      },
      onclosetag() {
        const ended = open.pop();
        if (ended !== undefined) onEnd(ended.path, ended.text.trim());
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
}
