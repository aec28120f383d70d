export {
  createProxyChooser,
  type ProxyChoice,
  type ProxyChooser,
  type ProxyServer,
  parseProxy,
} from './proxy-choice.ts';
export { openTunnel } from './tunnel.ts';
