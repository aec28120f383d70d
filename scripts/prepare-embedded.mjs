// Completes the embedded PostgreSQL inside an installation that will be read-only: links that npm cannot pack, and the
// right to run. Without it each machine makes a copy of 50 MB in its cache at the first start. Run it as who owns the files.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { findBinaries } from '../dist/src/db/embedded/platform.js';
import { prepareRuntime } from '../dist/src/db/embedded/runtime.js';

const { nativeDir, version } = findBinaries();
// No cache: a copy elsewhere would not be in the image.
const runtime = prepareRuntime({ nativeDir, version, uid: process.geteuid(), cacheDirs: [] });
accessSync(join(runtime, 'bin', 'postgres'), constants.X_OK);
console.log(`PostgreSQL ${version} is ready in ${runtime}`);
