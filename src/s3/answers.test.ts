import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseError, parseListing } from './answers.ts';

describe('answers of a store', () => {
  it.each([
    ['<Error><Code>SlowDown</Code><Message>a &amp; b</Message></Error>', 'SlowDown', 'a & b'],
    ['<html><body><h1>502 Bad Gateway</h1></body></html>', null, null],
    ['', null, null],
    ['<Error><Code>Half', 'Half', null],
  ])('errors: %s', (body, code, message) => {
    expect(parseError(body)).toEqual({ code, message });
  });

  it('listings: keys encoded or not, sizes and dates that are none', () => {
    const plain =
      '<ListBucketResult><IsTruncated>false</IsTruncated><NextContinuationToken>t</NextContinuationToken><Contents><Key>a+b %41</Key><Size>x</Size><LastModified>never</LastModified></Contents><Contents><Size>1</Size></Contents></ListBucketResult>';
    expect(parseListing(plain)).toEqual({
      objects: [{ key: 'a+b %41', bytes: 0, modifiedAt: null, etag: null }],
      next: null,
    });
    const encoded =
      '<ListBucketResult><Contents><Key>a+b%2Bc</Key><Size>5</Size></Contents><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>';
    expect(parseListing(encoded)).toMatchObject({ objects: [{ key: 'a b+c', bytes: 5 }], next: 't' });
    expect(parseListing('<html></html>')).toBe(null);
  });

  it('anything may be answered, at any depth', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (body) => {
        parseError(body);
        parseListing(`<ListBucketResult>${body}`);
      }),
    );
    expect(parseListing('<a>'.repeat(100_000))).toBe(null);
  });
});
