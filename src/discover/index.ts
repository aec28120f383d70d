export {
  type ArchiveDeps,
  type ArchiveLook,
  discoverArchives,
  discoverDueArchives,
} from './discover-archives.ts';
export { type DiscoverDeps, discoverChannels } from './discover-channels.ts';
export { ArchiveEntrance } from './enter-archives.ts';
