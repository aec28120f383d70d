import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What is served at an address; a function answers by itself, or never. */
export type Served =
  | { type?: string; status?: number; headers?: Record<string, string>; body?: Buffer | string }
  | ((response: ServerResponse) => void);

const address = '127.1.7.1';

/** Hosts on loopback that serve what a test says, and remember who asked for what. */
export class ImageSite {
  readonly requests: { url: string; accept: string }[] = [];
  readonly #served = new Map<string, Served>();
  readonly #server = createServer((request, response) => {
    const url = `http://${request.headers.host ?? ''}${request.url ?? ''}`;
    this.requests.push({ url, accept: request.headers.accept ?? '' });
    const served = this.#served.get(url);
    if (typeof served === 'function') return served(response);
    const { type, status = 200, headers = {}, body = '' } = served ?? { status: 404, type: 'text/plain' };
    const own = type === undefined ? {} : { 'content-type': type };
    response.writeHead(status, { ...own, 'content-length': Buffer.byteLength(body), ...headers });
    response.end(body);
    return undefined;
  });

  static async open(): Promise<ImageSite> {
    const site = new ImageSite();
    await new Promise<void>((resolve) => site.#server.listen(0, address, resolve));
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The line of a hosts file that leads these names here. */
  hostsLine(...names: string[]): string {
    return `${address}:${this.port} ${names.join(' ')}\n`;
  }

  get network(): string {
    return `${address}/32:${this.port}`;
  }

  serve(url: string, served: Served): void {
    this.#served.set(url, served);
  }

  /** An article of this title with these images in its text, and others in its head. */
  servePage(url: string, title: string, options: { images: readonly string[]; head?: string }): void {
    const images = options.images.map((one) => (one.startsWith('<') ? one : `<img src="${one}">`));
    const text = Array.from(
      { length: 12 },
      (_, n) =>
        `<p>${title}, part ${n}: what happened ${'and happened '.repeat(n % 5)}and why.</p>${images[n] ?? ''}`,
    );
    const rest = images.slice(12).map((one) => `<p>${title} shows more: ${one}</p>`);
    this.serve(url, {
      type: 'text/html; charset=utf-8',
      body: `<html><head><title>${title}</title>${options.head ?? ''}</head><body><article><h1>${title}</h1>${text.join('')}${rest.join('')}</article></body></html>`,
    });
  }

  count(url: string): number {
    return this.requests.filter((one) => one.url === url).length;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
