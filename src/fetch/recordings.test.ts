import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Clock } from '../telemetry/index.ts';
import { type Recording, RecordingRoom } from './client/index.ts';
import { Recordings, recordingRoomBytes } from './recordings.ts';

const none = { etag: null, lastModified: null };

/** A clock whose waits end when the test says so. */
function stoppedClock(): Clock & { waits: number; pass(): void } {
  const ends: (() => void)[] = [];
  const clock = {
    waits: 0,
    now: () => 1_800_000_000_000,
    monotonic: () => 0,
    wait: () =>
      new Promise<void>((resolve) => {
        clock.waits += 1;
        ends.push(resolve);
      }),
    pass: () => {
      for (const end of ends.splice(0)) end();
    },
  };
  return clock;
}

function answer(recording: Recording, body: string, status = 200): void {
  const url = new URL('http://a.example/x');
  recording.begin({ method: 'GET', url, headers: ['accept', '*/*'], payloadBytes: null });
  recording.answer(status, 'OK', { read: { etag: '"1"' }, raw: ['ETag', '"1"'] });
  recording.add(Buffer.from(body));
}

test('what was answered is settled with its digest; what was not is nothing', async () => {
  const recordings = new Recordings(new RecordingRoom(1000), stoppedClock());
  const sent = { etag: '"0"', lastModified: null };
  const one = recordings.begin('http://a.example/x', sent);
  answer(one, 'hello');
  one.end(null);
  recordings.begin('http://a.example/unanswered', none);
  const [response, ...more] = await recordings.answered();
  expect(more).toEqual([]);
  expect(response).toMatchObject({
    url: 'http://a.example/x',
    status: 200,
    method: 'GET',
    truncated: null,
    body: Buffer.from('hello'),
    digest: createHash('sha256').update('hello').digest(),
    validators: { etag: '"1"', lastModified: null },
    sent,
  });
  expect(response!.requestHead.toString()).toBe(
    'GET /x HTTP/1.1\r\nhost: a.example\r\nconnection: keep-alive\r\naccept: */*\r\n\r\n',
  );
  // The same again: a settle may have to be repeated.
  expect((await recordings.answered())[0]!.id).toBe(response!.id);
});

test('a body that is still read out is waited for, but not for ever', async () => {
  const clock = stoppedClock();
  const recordings = new Recordings(new RecordingRoom(1000), clock);
  const [slow, stuck] = [
    recordings.begin('http://a.example/1', none),
    recordings.begin('http://a.example/2', none),
  ];
  answer(slow, 'slow');
  answer(stuck, 'stuck');
  const settled = recordings.answered();
  slow.end(null);
  clock.pass();
  expect((await settled).map(({ truncated }) => truncated)).toEqual([null, 'time']);
  expect(clock.waits).toBe(1);
});

test('a run settles early when it holds much, or when all together do', () => {
  const room = new RecordingRoom(recordingRoomBytes);
  const [mine, others] = [new Recordings(room, stoppedClock()), new Recordings(room, stoppedClock())];
  expect(mine.isHeavy).toBe(false);
  answer(mine.begin('http://a.example/x', none), 'x'.repeat(3_000_000));
  expect(mine.isHeavy).toBe(true);
  mine.release();
  answer(mine.begin('http://a.example/x', none), 'x');
  expect(mine.isHeavy).toBe(false);
  for (let n = 0; n < 3; n += 1) answer(others.begin('http://b.example/x', none), 'x'.repeat(15_000_000));
  expect(mine.isHeavy).toBe(true);
  others.release();
  expect(mine.isHeavy).toBe(false);
  mine.release();
  expect(room.used).toBe(0);
});
