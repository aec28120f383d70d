// Draws captured terminal output as an SVG for the README.
// Use: outrider demo --seconds 25 2>&1 | node scripts/terminal-picture.mjs docs/demo.svg
import { readFileSync, writeFileSync } from 'node:fs';

const [target = 'docs/demo.svg', most = '26'] = process.argv.slice(2);
const columns = 118;
const lineHeight = 18;
const all = readFileSync(0, 'utf8')
  .split('\n')
  .map((line) => line.trimEnd())
  .filter((line) => line !== '');
const lines = all
  .slice(0, Number(most))
  .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line));
const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function colourOf(line) {
  if (/ {2}found /.test(line)) return '#7fd1b9';
  if (/ {2}article /.test(line)) return '#d6d9e0';
  if (/ {2}(4|5)\d\d /.test(line)) return '#f2c14e';
  if (/discovered →/.test(line)) return '#8ab4f8';
  return '#9aa4b2';
}

const height = (lines.length + 3) * lineHeight;
const text = lines
  .map(
    (line, index) =>
      `<text x="20" y="${(index + 3) * lineHeight}" fill="${colourOf(line)}">${escapeXml(line)}</text>`,
  )
  .join('\n');
writeFileSync(
  target,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12.5" xml:space="preserve">
<title>The demo in a terminal</title>
<rect width="920" height="${height}" rx="10" fill="#10141a"/>
<circle cx="22" cy="18" r="6" fill="#ff5f57"/><circle cx="42" cy="18" r="6" fill="#febc2e"/><circle cx="62" cy="18" r="6" fill="#28c840"/>
${text}
</svg>
`,
);
