import { createSocket } from 'node:dgram';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { renderAnswer } from '../../src/fetch/rendering.ts';
import { outOf, type Site, type Stage, startSite, startStage, tries } from './site.ts';

let site: Site;
let stage: Stage;
/** What nobody may reach: another port on loopback, and a port for datagrams. */
let secret: Site;
const datagrams: Buffer[] = [];
const listener = createSocket('udp4');
let rebound = 0;

beforeAll(async () => {
  site = await startSite({
    '/data': (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"loaded"}'),
    '/file.zip': (_request, response) =>
      void response.writeHead(200, { 'content-disposition': 'attachment; filename=file.zip' }).end('PK'),
    '/counted': (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'n=2; Path=/' })
        .end(
          `<body><p></p><script>fetch('/who').then((r) => r.text()).then((t) => { document.querySelector('p').textContent = t; })</script>`,
        ),
    '/who': (request, response) => void response.end(request.headers.cookie ?? 'nobody'),
    '/to-secret': (_request, response) =>
      void response.writeHead(302, { location: `http://127.0.0.1:${secret.port}/redirected` }).end(),
  });
  secret = await startSite({}, '127.0.0.1');
  listener.on('message', (bytes) => void datagrams.push(bytes));
  await new Promise<void>((resolve) => listener.bind(0, '127.0.0.1', resolve));
  stage = await startStage(site, {
    resolver: async (host) => {
      if (host !== 'rebind.test') throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      rebound += 1;
      return ['93.184.215.14', '127.0.0.1'];
    },
  });
});
beforeEach(() => {
  site.requests.length = 0;
});
afterAll(async () => {
  await stage?.close();
  await site?.close();
  await secret?.close();
  listener.close();
});

const attempt = (name: string, url: string): string =>
  `out[${JSON.stringify(name)}] = await fetch(${JSON.stringify(url)}, { mode: 'no-cors' }).then(async (r) => 'status ' + r.status + ' ' + (await r.text()).slice(0, 20), (e) => 'refused');`;

test('a script loads from its site, with our own name, and its text is there', async () => {
  const rendered = await stage.render(
    tries(`out.text = (await (await fetch('/data')).json()).text; out.agent = navigator.userAgent;`),
  );
  expect(outOf(rendered)).toEqual({ text: 'loaded', agent: 'Outrider/1.0 (+https://crawl.example)' });
  expect(rendered).toMatchObject({ outcome: 'rendered', requests: 1, cut: null });
  expect(site.requests).toEqual(['GET /data']);
  expect([...site.userAgents]).toEqual(['Outrider/1.0 (+https://crawl.example)']);
});

test('no address that is not public is reached, in whatever notation or by whatever name', async () => {
  const { port } = secret;
  const places: [string, string][] = [
    ['loopback', `http://127.0.0.1:${port}/`],
    ['localhost', `http://localhost:${port}/`],
    ['sub', `http://x.localhost:${port}/`],
    ['six', `http://[::1]:${port}/`],
    ['mapped', `http://[::ffff:127.0.0.1]:${port}/`],
    ['number', `http://2130706433:${port}/`],
    ['hex', `http://0x7f000001:${port}/`],
    ['octal', `http://0177.0.0.1:${port}/`],
    ['short', `http://127.1:${port}/`],
    ['zero', `http://0.0.0.0:${port}/`],
    ['metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['metadata name', 'http://metadata.test/'],
    ['private', 'http://private.test/'],
    ['ten', 'http://10.0.0.1/'],
    ['rebinding', 'http://rebind.test/'],
    ['port', 'http://93.184.215.14:22/'],
  ];
  const rendered = await stage.render(tries(places.map(([name, url]) => attempt(name, url)).join('\n')));
  const out = outOf(rendered);
  expect(Object.keys(out)).toHaveLength(places.length);
  // Our proxy says no in words of its own, which is all a page can see.
  for (const [name, what] of Object.entries(out))
    expect(`${name}: ${what}`).toMatch(/: (refused|status 0 ?)$/);
  expect(secret.connections).toBe(0);
  expect(rebound).toBe(1);
});

test('a redirect of something it loads leads nowhere either', async () => {
  outOf(await stage.render(tries(attempt('redirect', '/to-secret'))));
  expect(site.requests).toEqual(['GET /to-secret']);
  expect(secret.connections).toBe(0);
});

test('sockets, workers, frames, files, pictures, forms and beacons get nowhere', async () => {
  const rendered = await stage.render(
    `<img src="/picture.png"><iframe src="/frame.html"></iframe><object data="/object.swf"></object>
     <iframe src="file:///etc/passwd"></iframe><video src="/film.mp4"></video><link rel="prefetch" href="/prefetched">
     <style>@font-face { font-family: x; src: url(/font.woff2) } pre { font-family: x }</style>` +
      tries(`
      const socket = (url) => new Promise((resolve) => {
        try { const s = new WebSocket(url); s.onopen = () => resolve('open'); s.onerror = () => resolve('closed'); } catch { resolve('thrown'); }
      });
      out.ws = await socket('ws://page.test/socket');
      out.wss = await socket('wss://page.test/socket');
      out.wsSecret = await socket('ws://127.0.0.1:${secret.port}/socket');
      out.file = await fetch('file:///etc/passwd').then(() => 'read', () => 'refused');
      out.xhrFile = await new Promise((resolve) => { const x = new XMLHttpRequest(); x.onload = () => resolve('read'); x.onerror = () => resolve('refused'); try { x.open('GET', 'file:///etc/passwd'); x.send(); } catch { resolve('refused'); } });
      out.worker = await new Promise((resolve) => { try { const w = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); w.onmessage = () => resolve('runs'); w.onerror = () => resolve('refused'); } catch { resolve('refused'); } });
      out.service = 'serviceWorker' in navigator ? await navigator.serviceWorker.register('/worker.js').then(() => 'runs', () => 'refused') : 'refused';
      navigator.sendBeacon('/beacon', 'x');
      const form = document.createElement('form'); form.action = '/form'; form.method = 'post'; document.body.append(form); form.submit();
    `),
  );
  expect(outOf(rendered)).toEqual({
    ws: expect.stringMatching(/closed|thrown/),
    wss: expect.stringMatching(/closed|thrown/),
    wsSecret: expect.stringMatching(/closed|thrown/),
    file: 'refused',
    xhrFile: 'refused',
    worker: 'refused',
    service: 'refused',
  });
  expect(site.requests).toEqual([]);
  expect(secret.connections).toBe(0);
  expect(JSON.stringify(rendered)).not.toContain('root:');
});

test('WebRTC sends no datagram and makes no connection', async () => {
  const udp = listener.address().port;
  const rendered = await stage.render(
    tries(`
      if (typeof RTCPeerConnection === 'undefined') out.candidates = [];
      else try {
        const peer = new RTCPeerConnection({ iceServers: [
          { urls: ['stun:127.0.0.1:${udp}', 'stun:page.test:${udp}'] },
          { urls: ['turn:127.0.0.1:${udp}?transport=udp', 'turn:127.0.0.1:${secret.port}?transport=tcp'], username: 'u', credential: 'p' } ] });
        const found = [];
        peer.onicecandidate = (e) => { if (e.candidate) found.push(e.candidate.candidate); };
        peer.createDataChannel('x');
        await peer.setLocalDescription(await peer.createOffer());
        await Promise.race([new Promise((r) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && r(); }), fetch('/slow').then(() => 0), new Promise((r) => setTimeout(r, 3000))]);
        out.candidates = found;
      } catch (e) { out.candidates = []; }
    `),
  );
  expect(outOf(rendered)).toEqual({ candidates: [] });
  expect(datagrams).toEqual([]);
  expect(secret.connections).toBe(0);
});

test('windows, downloads and dialogs end at once', async () => {
  const rendered = await stage.render(
    `<a id="d" href="/file.zip" download>x</a>${tries(`
      const w = window.open('/popup'); out.popup = w === null ? 'none' : 'open';
      for (let n = 0; n < 50; n += 1) alert('again');
      out.confirmed = confirm('sure?'); out.prompted = prompt('name?');
      document.getElementById('d').click();
    `)}`,
  );
  expect(outOf(rendered)).toEqual({ popup: 'none', confirmed: false, prompted: null });
  expect(site.requests).toEqual([]);
  // The profile is the browser's home and its folder for temporary files; other tests have the folder around it too.
  const profiles = readdirSync(tmpdir()).filter((name) =>
    name.startsWith(`outrider-profile-${process.pid}-`),
  );
  expect(profiles).toHaveLength(1);
  const files = readdirSync(join(tmpdir(), profiles[0]!));
  expect(files.filter((name) => /download|\.zip$/i.test(name))).toEqual([]);
});

test('a script that leads elsewhere is a redirect; one that reloads changes nothing', async () => {
  expect(await stage.render(`<p>go</p><script>location.href = 'http://other.test/x'</script>`)).toEqual({
    outcome: 'redirect',
    location: 'http://other.test/x',
  });
  expect(
    await stage.render(`<meta http-equiv="refresh" content="0;url=http://127.0.0.1:${secret.port}/">`),
  ).toMatchObject({ outcome: 'redirect' });
  const reloads = await stage.render(`<p>text stays</p><script>location.reload()</script>`);
  expect(reloads.outcome === 'rendered' && reloads.body.toString()).toContain('text stays');
  expect(site.requests).toEqual([]);
  expect(secret.connections).toBe(0);
});

test('scripts see every cookie that came with the page', async () => {
  const rendered = await stage.renderer.render({
    url: 'http://page.test/story',
    contentType: 'text/html',
    headers: { 'set-cookie': 'a=1,x=9; Path=/\nb=2; Path=/' },
    body: Buffer.from(tries('out.cookie = document.cookie;')),
    signal: new AbortController().signal,
  });
  expect(outOf(rendered)).toEqual({ cookie: 'a=1,x=9; b=2' });
});

test('what a page loads is asked for with the cookies its redirects have set', async () => {
  const url = 'http://page.test/counted';
  const headers = { cookie: 'reader=yes; n=1' };
  const answer = await stage.client.request({ url, headers });
  const rendered = await renderAnswer(stage.renderer, { url, headers }, answer);
  expect(rendered.outcome === 'response' && rendered.body.toString()).toContain('<p>reader=yes; n=2</p>');
});

test('cookies and storage of one page are not there for the next', async () => {
  const look = `out.cookie = document.cookie; out.stored = localStorage.getItem('x');`;
  await stage.render(tries(`document.cookie = 'a=b'; localStorage.setItem('x', 'y'); ${look}`));
  expect(outOf(await stage.render(tries(look)))).toEqual({ cookie: '', stored: null });
});
