export { loadRobots, type RobotsRecord, saveRobots } from './robots-cache.ts';
