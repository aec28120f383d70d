/** Pages in a real browser: its life, its only way out, and what a page may do in it. */
export { type BrowserSearch, type FoundBrowser, findBrowser } from './find-browser.ts';
export { RenderProxy } from './proxy.ts';
export { Renderer, type RendererState } from './renderer.ts';
