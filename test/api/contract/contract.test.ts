import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { InjectOptions } from 'light-my-request';
import { OpenAPIClientAxios } from 'openapi-client-axios';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomFrom } from '../../web/random.ts';
import { type Description, renderClientTypes } from './client-types.ts';
import { answerSchema, isStream, operationsOf, Requests } from './operations.ts';
import { type ContractWorld, startContractWorld } from './world.ts';

// A few thousand requests in every run; FUZZ_REQUESTS=100000 FUZZ_SEED=n for more of them.
const fuzzRequests = Number(process.env.FUZZ_REQUESTS ?? 2500);
const seed = Number(process.env.FUZZ_SEED ?? 1 + Math.floor(Math.random() * 1e9));

let world: ContractWorld;
beforeAll(async () => {
  world = await startContractWorld();
}, 120_000);
afterAll(() => world?.close());

const ajv = new Ajv2020({
  strict: false,
  allErrors: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
});
const checks = new Map<object, ReturnType<typeof ajv.compile>>();
/** What is wrong with an answer by its schema; null: nothing. */
function problemOf(schema: object, answer: unknown): string | null {
  let check = checks.get(schema);
  if (check === undefined) {
    check = ajv.compile(schema);
    checks.set(schema, check);
  }
  return check(answer) ? null : ajv.errorsText(check.errors);
}

test('the description is valid OpenAPI 3.1 and names every route once', async () => {
  const result = await new Validator().validate(world.document as unknown as Record<string, unknown>);
  expect(result).toMatchObject({ valid: true });
  expect(world.document.openapi).toBe('3.1.0');
  const operations = operationsOf(world.document);
  const ids = operations.map((one) => one.operationId);
  expect(
    operations.filter((one) => one.operationId === undefined).map((one) => `${one.method} ${one.path}`),
  ).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(
    operations.filter(({ tags, summary }) => tags?.length !== 1 || !summary).map((one) => one.path),
  ).toEqual([]);
  // What has a default need not be given.
  const search = operations.find((one) => one.operationId === 'searchDocuments')!;
  expect(search.parameters!.filter((one) => one.required)).toEqual([]);
  // Whoever reads an operation must learn what it answers.
  const silent = operations.filter((one) => !Object.keys(one.responses).some((status) => /^2/.test(status)));
  expect(silent.map((one) => `${one.method} ${one.path}`)).toEqual([]);
});

test("the dashboard's view of the API is what is served", () => {
  const path = fileURLToPath(new URL('../../../dashboard/src/api/operations.ts', import.meta.url));
  const rendered = renderClientTypes(world.document as unknown as Description);
  if (process.env.OUTRIDER_UPDATE_CLIENT === '1') writeFileSync(path, rendered);
  expect(readFileSync(path, 'utf8') === rendered, 'OUTRIDER_UPDATE_CLIENT=1 writes it anew').toBe(true);
});

test('every route that is served is described', () => {
  const described = new Set(
    operationsOf(world.document).map((one) => `${one.method} ${one.path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
  expect(world.routes.length).toBeGreaterThan(described.size);
  // What is for programs beside the API, and everything else is a page.
  const plain = /^\/((?!api\/).*|api\/v1\/docs.*|api\/v1\/openapi\.json)$/;
  const missing = world.routes.filter((one) => {
    const [method, path] = one.split(' ') as [string, string];
    return method !== 'HEAD' && method !== 'OPTIONS' && !plain.test(path) && !described.has(one);
  });
  expect(missing).toEqual([]);
});

test('people read the same on a page without a script', async () => {
  const { headers } = world;
  const page = await world.app.inject({ url: '/api/v1/docs', headers });
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.payload).not.toMatch(/<script|<style|style=|onclick/i);
  for (const { operationId } of operationsOf(world.document))
    expect(page.payload).toContain(`id="${operationId}"`);
  const style = await world.app.inject({ url: '/api/v1/docs/style.css', headers });
  expect(style.headers['content-type']).toBe('text/css; charset=utf-8');
});

test('a client made from the description walks all routes', async () => {
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const api = new OpenAPIClientAxios({
    definition: structuredClone(world.document) as never,
    withServer: { url: address },
    axiosConfigDefaults: { validateStatus: () => true, timeout: 20_000 },
  });
  const client = (await api.init()) as unknown as Record<
    string,
    (
      parameters: object | null,
      body: unknown,
      config: object,
    ) => Promise<{ status: number; data: unknown; headers: Record<string, unknown> }>
  >;
  const random = randomFrom(11);
  const answered = new Map<string, number>();
  for (const operation of operationsOf(world.document)) {
    if (isStream(operation)) continue;
    const { operationId } = operation;
    // Several tries: not every value that a schema allows means something.
    for (let n = 0; n < 12 && !(answered.get(operationId!)! < 300); n += 1) {
      const { parameters, body, type } = new Requests(random, world.known).proper(operation);
      const { status, data, headers } = await client[operationId!]!(parameters, body, {
        headers: { ...world.headers, ...(type === undefined ? {} : { 'content-type': type }) },
      });
      expect(status, `${operationId}: ${JSON.stringify(data)}`).toBeLessThan(500);
      answered.set(operationId!, status);
      const schema = answerSchema(operation, status, String(headers['content-type']));
      if (schema !== undefined)
        expect(problemOf(schema, data), `${operationId} ${JSON.stringify(data).slice(0, 500)}`).toBeNull();
    }
  }
  expect(answered.size).toBe(operationsOf(world.document).filter((one) => !isStream(one)).length);
});

test(`requests at random never fail here, and answers are as described (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const requests = new Requests(random, world.known);
  const operations = operationsOf(world.document).filter((one) => !isStream(one));
  const counts = new Map<number, number>();
  for (let n = 0; n < fuzzRequests; n += 1) {
    const operation = random.pick(operations);
    const asked = requests.make(operation);
    const response = await world.app.inject({
      ...asked,
      headers: { ...world.headers, ...asked.headers },
    } as InjectOptions);
    counts.set(response.statusCode, (counts.get(response.statusCode) ?? 0) + 1);
    const said = `${asked.method} ${asked.url} ${asked.payload?.slice(0, 1000) ?? ''} → ${response.statusCode} ${response.payload.slice(0, 500)}`;
    if (response.statusCode >= 500) throw new Error(`${said}\n${world.failures.at(-1)?.slice(0, 2000)}`);
    const schema = answerSchema(operation, response.statusCode, String(response.headers['content-type']));
    if (schema === undefined) continue;
    const problem = problemOf(schema, response.json());
    if (problem !== null) throw new Error(`${said}\n${problem}`);
  }
  // As many must get through as are turned away, or it has tried nothing.
  const through = [...counts].reduce((sum, [status, count]) => sum + (status < 300 ? count : 0), 0);
  console.warn(
    `seed ${seed}: ${[...counts]
      .sort()
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ')}`,
  );
  expect(through).toBeGreaterThan(fuzzRequests / 10);
}, 3_600_000);
