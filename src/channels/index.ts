export {
  type Channel,
  type ChannelKind,
  type ChannelStatus,
  createChannel,
  type DiscoveryDelay,
  type FoundBy,
  listChannels,
  loadChannels,
  loadDiscoveryDelay,
  loadMoved,
  type NewChannel,
  submitPoll,
} from './channels.ts';
export {
  type Candidate,
  type Discovery,
  findDiscovery,
  lockOpenDiscoveries,
  saveDiscovery,
  startDiscovery,
  startRediscovery,
} from './discoveries.ts';
export { loadSeen, pruneStates, type SitemapFile, saveFiles, saveSeen } from './files.ts';
export { endRow, type MoveOutcome, mergeChannel, moveChannel } from './moves.ts';
export {
  findChannel,
  findChannelByUrl,
  findReplacement,
  listAddresses,
  removeChannel,
  setChannelEnabled,
  wakeChannel,
} from './operate.ts';
export { decideMultipliers, type FleetGroup, type Multipliers } from './schedule/fleet.ts';
export { decideNextPoll, decideWeight, type PollPlan } from './schedule/next-poll.ts';
export { learnRhythm, type PollNews, type Rhythm } from './schedule/rhythm.ts';
export {
  loadMultipliers,
  MultiplierReader,
  packRhythm,
  parseRhythm,
  sharePolls,
} from './schedule/stored.ts';
