export { type DiscoverDeps, discoverChannels } from './discover-channels.ts';
