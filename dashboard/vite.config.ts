import { fileURLToPath } from 'node:url';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  plugins: [vue()],
  build: {
    outDir: here('../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // A file as data: in a stylesheet would need a policy that allows it.
    assetsInlineLimit: 0,
    // The polyfill is a script inside the page, which our policy forbids; browsers of the target need none.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // On a busy machine it says at length what took the time.
    rolldownOptions: { checks: { pluginTimings: false } },
    // What others wrote and let us use goes along with its terms.
    license: { fileName: 'licenses.md' },
  },
  server: {
    // `npm run dev:dashboard` beside a running `outrider up`: pages from here, answers from there.
    proxy: Object.fromEntries(
      ['/api', '/sign-in'].map((path) => [path, process.env.OUTRIDER_DEV_API ?? 'http://127.0.0.1:8060']),
    ),
  },
});
