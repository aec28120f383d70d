export { type ChannelChange, findNamedChannel, updateChannel } from './change-channel.ts';
export {
  type Channel,
  type ChannelKind,
  type ChannelStatus,
  createChannel,
  listChannels,
  loadChannels,
  type NewChannel,
} from './channels.ts';
export {
  type Candidate,
  type Discovery,
  findDiscovery,
  lockOpenDiscoveries,
  saveDiscovery,
  startDiscovery,
} from './discoveries.ts';
export { exportSources } from './export-list.ts';
export { type BadLine, type ImportOptions, type ImportReport, importSources } from './import-list.ts';
export {
  type ChannelFilter,
  findChannelIds,
  listSourceStatus,
  type SourceFilter,
  type SourceStatus,
} from './list-sources.ts';
export { loadProbedChannels, type ProbedChannel } from './probes.ts';
export {
  countDropped,
  createSubscriptions,
  type DueSubscription,
  endUnwantedSubscriptions,
  findPushTarget,
  type HubAnswer,
  loadPushStates,
  type PushState,
  type PushTarget,
  type SubscriptionState,
  saveHubAnswer,
  savePush,
  takeDueSubscriptions,
  type Verification,
  verifySubscription,
} from './subscriptions.ts';
