import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRecord, splitMessage } from '../../../test/warcio/own-reader.ts';
import type { ResponseDelivery } from '../../outbox/index.ts';
import { archivedHead, exchangeRecords } from './exchange-records.ts';
import { derivedId, recordBytes } from './record.ts';

const id = '01932a5c-7d10-7000-8000-00000000cafe';
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

const deliveryOf = (change: Partial<ResponseDelivery> = {}): ResponseDelivery => {
  const body = change.body === undefined ? Buffer.from('<p>hello</p>') : change.body;
  return {
    id,
    domainKey: 1n,
    enqueuedAt: new Date(0),
    at: new Date('2026-11-16T08:09:10.123Z'),
    status: 200,
    method: 'GET',
    url: 'https://herald.example/a?b=1',
    address: '192.0.2.7',
    payloadDigest: body === null ? null : sha256(body),
    truncated: null,
    revisit: null,
    refersTo: null,
    refersToAt: null,
    requestHead: Buffer.from('GET /a?b=1 HTTP/1.1\r\nhost: herald.example\r\n\r\n'),
    responseHead: Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\n'),
    ...change,
    body,
  };
};
const recordsOf = (change: Partial<ResponseDelivery> = {}) =>
  exchangeRecords(deliveryOf(change)).map((record) => parseRecord(recordBytes(record)));

test('a response and its request name each other, the moment and the place', () => {
  const [answer, ask] = recordsOf();
  expect(Object.fromEntries(answer!.fields)).toEqual({
    'WARC-Type': 'response',
    'WARC-Record-ID': `<urn:uuid:${id}>`,
    'WARC-Date': '2026-11-16T08:09:10.123Z',
    'WARC-Target-URI': 'https://herald.example/a?b=1',
    'WARC-IP-Address': '192.0.2.7',
    'WARC-Payload-Digest': `sha256:${sha256(Buffer.from('<p>hello</p>')).toString('hex')}`,
    'WARC-Block-Digest': answer!.fields.get('WARC-Block-Digest'),
    'Content-Type': 'application/http; msgtype=response',
    'Content-Length': String(answer!.block.length),
  });
  expect(answer!.block.toString()).toBe(
    'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\n<p>hello</p>',
  );
  expect(ask!.fields.get('WARC-Type')).toBe('request');
  expect(ask!.fields.get('WARC-Concurrent-To')).toBe(`<urn:uuid:${id}>`);
  expect(ask!.fields.get('WARC-Record-ID')).toBe(`<urn:uuid:${derivedId(id, 'request')}>`);
  expect(ask!.fields.get('WARC-Date')).toBe(answer!.fields.get('WARC-Date'));
  expect(ask!.fields.get('Content-Type')).toBe('application/http; msgtype=request');
  expect(ask!.fields.has('WARC-Payload-Digest')).toBe(false);
  expect(ask!.block).toEqual(deliveryOf().requestHead);
});

test('written again it is the same record', () => {
  const once = exchangeRecords(deliveryOf()).map(recordBytes);
  expect(exchangeRecords(deliveryOf()).map(recordBytes)).toEqual(once);
  expect(derivedId(id, 'request')).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(derivedId(id, 'request')).not.toBe(derivedId(id.replace('cafe', 'caff'), 'request'));
});

describe('revisits', () => {
  const refers = {
    refersTo: '01932a5c-0000-7000-8000-000000000001',
    refersToAt: new Date('2026-11-15T00:00:00.5Z'),
  };
  const head = Buffer.from('HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n');

  test('a 304 names what it says is unchanged', () => {
    const payloadDigest = sha256(Buffer.from('before'));
    const [answer] = recordsOf({
      status: 304,
      revisit: 'server-not-modified',
      responseHead: head,
      body: null,
      ...refers,
      payloadDigest,
    });
    expect(Object.fromEntries(answer!.fields)).toMatchObject({
      'WARC-Type': 'revisit',
      'WARC-Profile': 'http://netpreserve.org/warc/1.1/revisit/server-not-modified',
      'WARC-Refers-To': '<urn:uuid:01932a5c-0000-7000-8000-000000000001>',
      'WARC-Refers-To-Target-URI': 'https://herald.example/a?b=1',
      'WARC-Refers-To-Date': '2026-11-15T00:00:00.500Z',
      'WARC-Payload-Digest': `sha256:${payloadDigest.toString('hex')}`,
    });
    expect(answer!.fields.has('WARC-Truncated')).toBe(false);
    expect(answer!.block).toEqual(head);
  });

  test('a 304 of something nobody has stored says no more than it knows', () => {
    const [answer] = recordsOf({
      status: 304,
      revisit: 'server-not-modified',
      responseHead: head,
      body: null,
    });
    expect([...answer!.fields.keys()].filter((name) => /Refers|Payload/.test(name))).toEqual([]);
  });

  test('a payload that was written before is left out, and its head is not', () => {
    const [answer] = recordsOf({
      revisit: 'identical-payload-digest',
      body: null,
      ...refers,
      payloadDigest: sha256(Buffer.from('same')),
    });
    expect(answer!.fields.get('WARC-Profile')).toBe(
      'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest',
    );
    expect(answer!.fields.get('WARC-Truncated')).toBe('length');
    expect(splitMessage(answer!.block)).toEqual({
      head: deliveryOf().responseHead.toString('latin1'),
      payload: Buffer.alloc(0),
    });
  });
});

describe('heads', () => {
  test.each([
    ['Transfer-Encoding: chunked', 'X-Crawler-Transfer-Encoding: chunked'],
    ['transfer-encoding: gzip, chunked', 'X-Crawler-transfer-encoding: gzip, chunked'],
    ['Transfer-Encoding : chunked', 'X-Crawler-Transfer-Encoding : chunked'],
    ['X-Note: transfer-encoding: chunked', 'X-Note: transfer-encoding: chunked'],
    ['Content-Encoding: gzip', 'Content-Encoding: gzip'],
  ])('%s becomes %s', (line, written) => {
    const of = (text: string): Buffer =>
      Buffer.from(`HTTP/1.1 200 OK\r\nServer: caf\xe9\r\n${text}\r\nSet-Cookie: a=1\r\n\r\n`, 'latin1');
    expect(archivedHead(of(line))).toEqual(of(written));
  });

  test.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('the peer %s is written as %s', (address, written) => {
    expect(recordsOf({ address })[0]!.fields.get('WARC-IP-Address')).toBe(written);
  });
});

test('a body that is not whole says why, and its digest is that of what is there', () => {
  const body = Buffer.from('half of i');
  const [answer] = recordsOf({ truncated: 'disconnect', body, payloadDigest: null });
  expect(answer!.fields.get('WARC-Truncated')).toBe('disconnect');
  expect(answer!.fields.get('WARC-Payload-Digest')).toBe(`sha256:${sha256(body).toString('hex')}`);
});

test('whatever was sent and answered, the record is well-formed', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), fc.string({ unit: 'binary' }), (body, head, url) => {
      const [answer, ask] = recordsOf({
        body: Buffer.from(body),
        responseHead: Buffer.from(head),
        requestHead: Buffer.from(head),
        url: `https://herald.example/${url}`,
        address: url,
      });
      expect(answer!.fields.get('WARC-Target-URI')).not.toMatch(/[\r\n]/);
      expect(answer!.block.subarray(-body.length || answer!.block.length)).toEqual(Buffer.from(body));
      expect(ask!.block).toEqual(Buffer.from(head));
    }),
  );
});
