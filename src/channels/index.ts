export {
  type Channel,
  type ChannelKind,
  type ChannelStatus,
  createChannel,
  type FoundBy,
  listChannels,
  loadChannels,
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
export { endRow, type MoveOutcome, mergeChannel, moveChannel } from './moves.ts';
export {
  findChannel,
  findChannelByUrl,
  findReplacement,
  listAddresses,
  removeChannel,
  wakeChannel,
} from './operate.ts';
