// EBCDIC code page 037 as a permutation of Latin-1, two hexadecimal digits for each of its 256 bytes. Neither the
// platform nor iconv-lite carries it, and XML names it (XML 1.0, appendix F).
const cp037 =
  '000102039c09867f978d8e0b0c0d0e0f101112139d8508871819928f1c1d1e1f80818283840a171b88898a8b8c050607' +
  '909116939495960498999a9b14159e1a20a0e2e4e0e1e3e5e7f1a22e3c282b7c26e9eaebe8edeeefecdf21242a293bac' +
  '2d2fc2c4c0c1c3c5c7d1a62c255f3e3ff8c9cacbc8cdcecfcc603a2340273d22d8616263646566676869abbbf0fdfeb1' +
  'b06a6b6c6d6e6f707172aabae6b8c6a4b57e737475767778797aa1bfd0dddeae5ea3a5b7a9a7b6bcbdbe5b5dafa8b4d7' +
  '7b414243444546474849adf4f6f2f3f57d4a4b4c4d4e4f505152b9fbfcf9faff5cf7535455565758595ab2d4d6d2d3d5' +
  '30313233343536373839b3dbdcd9da9f';

// Code page 500 (Western Europe) differs from 037 in these places.
const cp500Changes: readonly (readonly [number, number])[] = [
  [0x4a, 0x5b],
  [0x4f, 0x21],
  [0x5a, 0x5d],
  [0x5f, 0x5e],
  [0xb0, 0xa2],
  [0xba, 0xac],
  [0xbb, 0x7c],
];

const labels = new Map<string, 'cp037' | 'cp500' | 'cp1140'>();
for (const label of [
  'cp037',
  'ibm037',
  'ibm039',
  '037',
  'csibm037',
  'ebcdic-cp-us',
  'ebcdic-cp-ca',
  'ebcdic-cp-nl',
  'ebcdic-cp-wt',
  'ebcdic',
])
  labels.set(label, 'cp037');
for (const label of ['cp500', 'ibm500', '500', 'csibm500', 'ebcdic-cp-be', 'ebcdic-cp-ch'])
  labels.set(label, 'cp500');
for (const label of ['cp1140', 'ibm1140', '1140']) labels.set(label, 'cp1140');

/** The EBCDIC code page a normalised label names, or null. */
export function ebcdicName(label: string): 'cp037' | 'cp500' | 'cp1140' | null {
  return labels.get(label) ?? null;
}

/** Decodes EBCDIC bytes. */
export function decodeEbcdic(bytes: Uint8Array, name: string): string {
  const table = Buffer.from(cp037, 'hex');
  if (name === 'cp500') for (const [from, to] of cp500Changes) table[from] = to;
  const latin1 = Buffer.allocUnsafe(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) latin1[at] = table[bytes[at] ?? 0] ?? 0x1a;
  // NEL is the line end of EBCDIC systems.
  const text = latin1.toString('latin1').replaceAll('\u0085', '\n');
  return name === 'cp1140' ? text.replaceAll('\u00a4', '\u20ac') : text;
}
