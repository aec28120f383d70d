import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { startApiLab } from './lab.ts';

type Operation = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  responses: Record<string, unknown>;
};

const described = /^\/api\/v1\/(sources|channels|documents|sinks|switches|audit|config|events)/;

test('the description is valid, and every operation has a name of its own, a subject and an answer', async () => {
  const lab = await startApiLab();
  try {
    const { body } = await lab.ask('GET', '/api/v1/openapi.json');
    const checked = await new Validator().validate(body);
    expect(checked.errors).toBeUndefined();
    const operations = Object.entries(body.paths as Record<string, Record<string, Operation>>)
      .filter(([path]) => described.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
      );
    expect(operations.length).toBeGreaterThan(40);
    for (const { name, operationId, tags, summary, responses } of operations) {
      expect(operationId, name).toMatch(/^[a-z]+([A-Z][a-z]*)+$/);
      expect(tags, name).toHaveLength(1);
      expect(summary, name).toBeTruthy();
      expect(
        Object.keys(responses).some((status) => /^20[012]$/.test(status)),
        name,
      ).toBe(true);
    }
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  } finally {
    await lab.close();
  }
});
