export { claimImage, type NewImage } from './claim.ts';
export { type ImageFilter, type ListedImage, listImages } from './list.ts';
export { type Sighting, sightImages, sightSubmitted } from './sight.ts';
export { removeSightings, removeSourceSightings, type SweepResult, sweepImages } from './sweep.ts';
