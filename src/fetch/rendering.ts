import type { HttpRequest, HttpResult } from './client/index.ts';

/** A page that was fetched like any other, to be run in a browser. */
export type RenderRequest = {
  url: string;
  contentType: string | null;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  signal: AbortSignal;
  /** The source's own proxies, for what the page loads. */
  proxies?: readonly string[];
};

/** What scripts made of a page. */
export type RenderedPage =
  | {
      outcome: 'rendered';
      body: Buffer;
      requests: number;
      bytes: number;
      cut: 'requests' | 'bytes' | 'time' | null;
    }
  | { outcome: 'redirect'; location: string }
  | {
      outcome: 'failed';
      kind: 'render_timeout' | 'render_crashed' | 'render_too_large' | 'aborted';
      detail: string;
    };

/** Runs pages in a browser. */
export type PageRenderer = {
  /** Whether a browser can be had now. */
  readonly isReady: boolean;
  render(request: RenderRequest): Promise<RenderedPage>;
};

type Response = Extract<HttpResult, { outcome: 'response' }>;

/**
 * Lets a browser run what a request brought. Only a page that is there is run: statuses, redirects and failures are what
 * they are without it. Validators do not go along, because they speak of the shell and not of what was rendered.
 */
export async function renderAnswer(
  renderer: PageRenderer,
  asked: HttpRequest,
  answer: HttpResult,
): Promise<HttpResult> {
  if (answer.outcome !== 'response' || answer.status !== 200 || answer.body.length === 0) return answer;
  const rendered = await renderer.render({
    url: asked.url,
    contentType: answer.headers['content-type'] ?? null,
    headers: withSentCookies(answer.headers, asked),
    body: answer.body,
    signal: asked.signal ?? new AbortController().signal,
    ...(asked.proxies === undefined ? {} : { proxies: asked.proxies }),
  });
  const timings = { ...answer.timings, endedAt: performance.now() };
  switch (rendered.outcome) {
    case 'failed':
      return { outcome: 'failed', kind: rendered.kind, detail: rendered.detail, timings };
    case 'redirect': {
      const { status: _status, headers, remoteAddress } = answer;
      return {
        outcome: 'redirect',
        status: 302,
        headers,
        remoteAddress,
        timings,
        location: rendered.location,
      };
    }
    case 'rendered':
      return { ...answer, ...bodyOf(answer, rendered), timings };
  }
}

/** What a page loads is asked for with the cookies that the page itself was given for. */
function withSentCookies(headers: Response['headers'], asked: HttpRequest): Readonly<Record<string, string>> {
  const sent = asked.headers?.cookie;
  if (sent === undefined) return headers;
  // Some names are taken only with it.
  const secure = asked.url.startsWith('https:') ? '; Secure' : '';
  const own = headers['set-cookie'];
  // The page's own come last: they are newer.
  const lines = [
    ...sent.split('; ').map((pair) => `${pair}; Path=/${secure}`),
    ...(own === undefined ? [] : own.split('\n')),
  ];
  return { ...headers, 'set-cookie': lines.join('\n') };
}

function bodyOf(answer: Response, { body, bytes }: Extract<RenderedPage, { outcome: 'rendered' }>) {
  const { etag: _etag, 'last-modified': _modified, ...headers } = answer.headers;
  return {
    body,
    wireBody: body,
    contentEncoding: null,
    wireBytes: answer.wireBytes + bytes,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
  };
}
