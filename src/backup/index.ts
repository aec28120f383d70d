/** Backups: a folder of exports, with the images beside them. */
export { type CopiedImages, copyImages, imagesOfBackup } from './images.ts';
export { findBackup, listBackups, nameOfBackup, removeOldBackups } from './names.ts';
export { type RestoreResult, restoreBackup } from './restore.ts';
export { type SavedBackup, saveBackup } from './save.ts';
