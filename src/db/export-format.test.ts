import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExportReader, RowSum, rowsEnd } from './export-format.ts';

async function* cut(data: Buffer, sizes: number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < data.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield data.subarray(at, at + size);
    at += size;
  }
}

// What COPY writes: no raw line end and no single backslash inside a row.
const row = fc.string().map((text) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n'));

test('rows come out as they went in, wherever the pieces are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(row)),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (tables, sizes) => {
        const bodies = tables.map((rows) => Buffer.from(rows.map((text) => `${text}\n`).join('')));
        const file = bodies.flatMap((body, n) => [Buffer.from(`{"n":${n}}\n`), body, rowsEnd]);
        const reader = new ExportReader(cut(Buffer.concat([...file, Buffer.from('{"end":1}\n')]), sizes));
        for (const [n, body] of bodies.entries()) {
          expect(await reader.readJson()).toEqual({ n });
          const sum = new RowSum();
          const found: Buffer[] = [];
          for await (const chunk of reader.readRows()) {
            found.push(Buffer.from(chunk));
            sum.add(chunk);
          }
          expect(Buffer.concat(found)).toEqual(body);
          expect(sum.rows).toBe(tables[n]!.length);
        }
        expect(await reader.readJson()).toEqual({ end: 1 });
      },
    ),
  );
});

test('arbitrary bytes are refused, not believed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.boolean(), async (bytes, rows) => {
      const reader = new ExportReader(cut(Buffer.from(bytes), [7]));
      const reading = async (): Promise<unknown> => {
        if (!rows) return reader.readJson();
        for await (const chunk of reader.readRows()) expect(chunk.length).toBeGreaterThan(0);
        return undefined;
      };
      await reading().catch((error: unknown) => expect(error).toMatchObject({ code: 'db_import_damaged' }));
    }),
  );
});
