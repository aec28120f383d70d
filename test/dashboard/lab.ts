import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Role } from '../../src/auth/index.ts';
import { type ApiLab, type ApiLabOptions, startApiLab } from '../api/lab.ts';
import { shareBrowser } from './browser.ts';

/** How a page is opened. */
export type PageOptions = {
  role?: Role;
  width?: number;
  height?: number;
  scheme?: 'light' | 'dark';
};

/** A browser before a dashboard. */
export type DashboardLab = {
  api: ApiLab;
  /** A page of somebody who is signed in, in a browser profile of their own. */
  open(path: string, options?: PageOptions): Promise<Page>;
  /** What pages complained of: errors, what the policy forbids, requests that would leave the server. */
  complaints: string[];
  close(): Promise<void>;
};

/** Starts the API on a database of its own and a browser beside it. */
export async function startDashboardLab(options: ApiLabOptions = {}): Promise<DashboardLab> {
  const [api, browser] = await Promise.all([startApiLab(options), shareBrowser()]);
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  return {
    api,
    open: async (path, asked = {}) => {
      const context = await openContext(browser, api.address, {
        ...asked,
        token: api.tokens[asked.role ?? 'admin'],
      });
      contexts.push(context);
      return openPage(context, `${api.address}${path}`, complaints);
    },
    complaints,
    close: async () => {
      for (const context of contexts) await context.close();
      await api.close();
    },
  };
}

/** A browser profile that has exchanged a token for a session. */
export async function openContext(
  browser: Browser,
  address: string,
  { token, width = 1280, height = 900, scheme = 'light' }: PageOptions & { token: string },
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Vienna',
    locale: 'en-GB',
  });
  const response = await context.request.post(`${address}/api/v1/session`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status() !== 201) throw new Error(`no session: ${await response.text()}`);
  return context;
}

/** Opens a page and notes what it complains of. */
export async function openPage(context: BrowserContext, url: string, complaints: string[]): Promise<Page> {
  const page = await context.newPage();
  const { origin } = new URL(url);
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // The browser itself notes answers as 404 and 409, which pages ask for and show.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.origin !== origin && !/^(data|blob|about):/.test(to.protocol))
      complaints.push(`leaves the server: ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

/** What axe finds wrong with a page, in a line each. */
export async function findBarriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    // What is fine need not be told, and there are no frames of other sites to talk to: a third of the time.
    .options({ resultTypes: ['violations'], preload: false })
    .setLegacyMode(true)
    .analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`),
  );
}

/** How many pixels of a page lie outside the window to the right; people should not have to look for them. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  ) as Promise<number>;
