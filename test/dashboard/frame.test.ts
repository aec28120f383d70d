import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await startDashboardLab();
});
afterAll(() => lab?.close());

test('who is not signed in is told how, and a token is enough', async () => {
  const page = await lab.open('/');
  await page.context().clearCookies();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to Outrider' }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByLabel('Or paste an API token').fill('otr_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This token is not known, or has ended.').waitFor();
  await page.getByLabel('Or paste an API token').fill(lab.api.tokens.read);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
  await page.getByText('read only').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  // Signed out on the server, not only here.
  await page.locator('summary').first().click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Outrider' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to Outrider' }).waitFor();
  await page.close();
});

test('an address of no screen says so, on a narrow dark page too', async () => {
  const page = await lab.open('/sources/a/b/c/d', { width: 360, scheme: 'dark' });
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.close();
});

test('the first load is small, and nothing in it is inside the page', async () => {
  // With a source the overview brings its charts along.
  await lab.api.ask('POST', '/api/v1/sources', { url: 'https://herald.example/', name: 'The Herald' });
  const page = await lab.open('/icon.svg');
  const scripts = new Set<string>();
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.add(response.url());
  });
  const response = await page.goto(`${lab.api.address}/`);
  await page.getByRole('heading', { name: 'Over time' }).waitFor();
  const policy = response!.headers()['content-security-policy']!;
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(scripts.size).toBeGreaterThan(2);
  let size = 0;
  for (const url of scripts) size += gzipSync(await (await page.request.get(url)).body()).length;
  expect(size).toBeLessThan(120_000);
  await page.close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
