#!/usr/bin/env bash
# Makes an archive to be unpacked as /opt/outrider: the program built, without development packages, PostgreSQL embedded.
# It runs on the platform it was made on. Usage: deploy/archive.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:-.}")
version=$(node -p 'require("./package.json").version')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is committed and nothing else: no local settings, no half-written files.
git archive HEAD | tar --extract --directory "$work"
cd "$work"
npm ci
npm run build
npm prune --omit=dev
node scripts/prepare-embedded.mjs
chmod 755 dist/src/cli/main.js
name="outrider-$version-$(node -p 'process.platform + "-" + process.arch').tar.gz"
tar --create --gzip --owner=0 --group=0 --file "$out/$name" \
  dist migrations node_modules docs deploy package.json README.md CHANGELOG.md LICENSE
(cd "$out" && sha256sum "$name" > "$name.sha256")
echo "wrote $out/$name"
