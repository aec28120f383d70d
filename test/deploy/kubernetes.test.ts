import { spawnSync } from 'node:child_process';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { listSettings } from '../../src/config/settings.ts';
import {
  filesBelow,
  manifest,
  megabytes,
  problemsOfEnvironment,
  read,
  readYaml,
  root,
  toldMemory,
} from './files.ts';

const chart = 'deploy/helm/outrider';
type Resources = { limits: { memory: string }; requests: { memory: string; cpu: string } };
type Values = {
  settings: Record<string, string>;
  terminationGracePeriodSeconds: number;
} & Record<'serve' | 'schedule' | 'fetch', { replicas: number; resources: Resources }>;
const values = readYaml<Values>(`${chart}/values.yaml`);
const templates = filesBelow(`${chart}/templates`).map((path) => read(path));
const pod = read(`${chart}/templates/_parts.tpl`);
const graceSeconds = listSettings().find((one) => one.key === 'up.grace_seconds')!.default as number;

test('the chart has the version of the program', () => {
  expect(readYaml(`${chart}/Chart.yaml`)).toMatchObject({
    version: manifest.version,
    appVersion: manifest.version,
  });
});

test('settings are such as there are, and roles have the memory that the guide tells', () => {
  expect(problemsOfEnvironment(values.settings)).toEqual([]);
  for (const role of ['serve', 'schedule', 'fetch'] as const) {
    const { limits, requests } = values[role].resources;
    expect(megabytes(limits.memory), role).toBeGreaterThanOrEqual(toldMemory()[role]!);
    expect(megabytes(requests.memory), role).toBeLessThanOrEqual(megabytes(limits.memory));
  }
  expect(values.schedule.replicas).toBe(2);
  expect(values.terminationGracePeriodSeconds).toBeGreaterThan(graceSeconds);
});

const validate = new Ajv().compile(JSON.parse(read(`${chart}/values.schema.json`)));
const isTaken = (part: object): boolean => validate({ ...readYaml<object>(`${chart}/values.yaml`), ...part });

test('every setting can be given: secrets by a key of the Secret, the others as they are', () => {
  expect(isTaken({})).toBe(true);
  const secret = readYaml<{ secret: object }>(`${chart}/values.yaml`).secret;
  // Two have keys of their own; the last belongs to commands.
  const others = ['DATABASE_URL', 'AUTH_JWT_SECRET', 'OUTRIDER_TOKEN'];
  for (const { env, secret: isSecret } of listSettings().filter((one) => !others.includes(one.env)))
    expect(
      isSecret === true
        ? isTaken({ secret: { ...secret, settings: { [env]: 'a-key' } } })
        : isTaken({ settings: { [env]: '1' } }),
      env,
    ).toBe(true);
  expect(isTaken({ secret: { ...secret, settings: { DATABASE_URL: 'a-key' } } })).toBe(false);
  expect(isTaken({ secret: { ...secret, settings: { OUTRIDER_S3_SECRET_KEY: '' } } })).toBe(false);
  // Named as a file, and the file there: one without the other starts nothing.
  expect(pod).toContain('range $name, $key := $top.Values.secret.settings');
  expect(pod).toContain('- name: {{ $name }}_FILE\n          value: /etc/outrider/secret/{{ $key }}');
  expect(pod).toContain('range $key := values $top.Values.secret.settings');
  expect(pod).toContain('- { key: {{ $key }}, path: {{ $key }} }');
});

test('pods are nobody, read-only, and asked by paths and ports that there are', () => {
  const uid = /^USER (\d+):/m.exec(read('deploy/docker/Dockerfile'))![1]!;
  for (const line of [
    `runAsUser: ${uid}`,
    'runAsNonRoot: true',
    'readOnlyRootFilesystem: true',
    'allowPrivilegeEscalation: false',
    'drop: [ALL]',
    'type: RuntimeDefault',
    'automountServiceAccountToken: false',
  ])
    expect(pod).toContain(line);
  for (const [, path] of pod.matchAll(/httpGet: \{ path: (\S+),/g))
    expect(['/healthz', '/readyz']).toContain(path);
  // A database that is away must not end everything that waits for it.
  expect(/livenessProbe:\n.*path: (\S+),/.exec(pod)![1]).toBe('/healthz');
  const api = listSettings().find((one) => one.key === 'api.port')!.default;
  expect(templates.join('')).toContain(`"role" "serve" "port" ${api} "portName" "api"`);
});

// Helm's own opinion; HELM names another place.
const helm = process.env.HELM ?? 'helm';
const isThere = spawnSync(helm, ['version']).status === 0;
if (!isThere) console.warn('SKIPPED, helm lint and template: helm is not installed');

type Rendered = { kind: string; metadata: { name: string } };
function render(...flags: string[]): Rendered[] {
  const args = ['template', 'trial', `${root}${chart}`, '--kube-version', '1.30', ...flags];
  const { status, stdout, stderr } = spawnSync(helm, args, { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return parseAllDocuments(stdout).flatMap((one) => (one.toJS() as Rendered | null) ?? []);
}
const kindsOf = (objects: Rendered[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of objects) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

test.runIf(isThere)('helm finds nothing to complain about and makes what is asked for', () => {
  const { status, stdout } = spawnSync(helm, ['lint', '--strict', `${root}${chart}`], { encoding: 'utf8' });
  expect(status, stdout).toBe(0);
  expect(kindsOf(render())).toEqual({
    ConfigMap: 1,
    Deployment: 3,
    NetworkPolicy: 3,
    PodDisruptionBudget: 3,
    Service: 1,
  });
  const all = [
    'podMonitor.enabled=true',
    'fetch.autoscaling.enabled=true',
    'databaseCaSecret=ca',
    'serve.hosts={a.example}',
    'secret.settings.OUTRIDER_S3_SECRET_KEY=s3-secret-key',
  ];
  expect(kindsOf(render(...all.flatMap((one) => ['--set', one])))).toMatchObject({
    HorizontalPodAutoscaler: 1,
    PodMonitor: 1,
  });
  const refused = spawnSync(helm, [
    'template',
    `${root}${chart}`,
    '--kube-version',
    '1.30',
    '--set',
    'settings.OUTRIDER_X=1',
  ]);
  expect(refused.status).not.toBe(0);
});
