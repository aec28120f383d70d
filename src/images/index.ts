export { claimImage, type NewImage } from './claim.ts';
export { type ImageFilter, type ImagePlace, type ListedImage, pageImages } from './list.ts';
export { type Sighting, sightImages, sightSubmitted } from './sight.ts';
export { pageStoredImages, type StoredImage } from './stored.ts';
export { removeSightings, removeSourceSightings, type SweepResult, sweepImages } from './sweep.ts';
