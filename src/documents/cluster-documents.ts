import type { Queryable } from '../db/index.ts';
import { COPY_SIMILARITY, signatureSimilarity, textSignature } from '../extract/index.ts';
import { joinClusters, leaveCluster, loadMembers } from './clusters.ts';
import {
  type DocumentKey,
  keyText,
  loadCandidates,
  loadSignatures,
  removeBands,
  removeSignatures,
  type Signed,
  saveSignatures,
} from './signatures.ts';

/**
 * Finds the copies of documents that are new or have changed, in the caller's transaction; the caller sees to it that
 * only one does so at a time, for two copies in two transactions would not see each other. A document whose text says
 * what it said before costs one probe, so a second delivery changes nothing.
 */
export async function clusterDocuments(
  tx: Queryable,
  documents: readonly (DocumentKey & { text: string })[],
): Promise<void> {
  const known = new Map((await loadSignatures(tx, documents)).map((signed) => [keyText(signed), signed]));
  const fresh: (DocumentKey & { signature: Buffer })[] = [];
  const changed: { before: Signed; after: Buffer | null }[] = [];
  for (const { domainKey, hash, text } of documents) {
    const before = known.get(keyText({ domainKey, hash }));
    const signature = textSignature(text);
    if (signature !== null && before?.signature.equals(signature)) continue;
    if (before !== undefined) changed.push({ before, after: signature });
    if (signature !== null) fresh.push({ domainKey, hash, signature });
  }
  if (changed.length > 0) await clearChanged(tx, changed);
  if (fresh.length === 0) return;
  await saveSignatures(tx, fresh);
  const candidates = await loadCandidates(tx, fresh);
  await joinClusters(tx, decideJoins(await loadSignatures(tx, fresh), candidates));
}

/** Takes changed texts out of their bands, and out of their cluster where they resemble none of it any more. */
async function clearChanged(
  tx: Queryable,
  changed: readonly { before: Signed; after: Buffer | null }[],
): Promise<void> {
  await removeBands(
    tx,
    changed.map(({ before }) => before),
  );
  for (const { before, after } of changed) {
    // Asked again: a leaver before this one may have renamed or ended the cluster.
    const cluster = (await loadSignatures(tx, [before]))[0]?.cluster ?? null;
    if (cluster === null) continue;
    const others = (await loadMembers(tx, cluster)).filter((member) => keyText(member) !== keyText(before));
    if (after !== null && others.some((other) => isCopy(after, other.signature))) continue;
    await leaveCluster(tx, before, cluster);
  }
  const gone = changed.filter(({ after }) => after === null).map(({ before }) => before);
  if (gone.length > 0) await removeSignatures(tx, gone);
}

const isCopy = (a: Buffer, b: Buffer): boolean => signatureSimilarity(a, b) >= COPY_SIMILARITY;

/**
 * Whom each document joins: the cluster of the most similar candidate, or a new one with it, named after the elder of
 * the two. The eldest goes first and sees no younger one of its own batch, so the order within a batch does not matter.
 */
function decideJoins(
  documents: readonly Signed[],
  candidates: ReadonlyMap<string, readonly Signed[]>,
): { member: DocumentKey; cluster: DocumentKey }[] {
  const joins: { member: DocumentKey; cluster: DocumentKey }[] = [];
  const joined = new Map<string, DocumentKey>();
  const waiting = new Set(documents.filter((document) => document.cluster === null).map(keyText));
  const join = (member: DocumentKey, cluster: DocumentKey): void => {
    joins.push({ member, cluster });
    joined.set(keyText(member), cluster);
  };
  for (const document of [...documents].sort(compareAge)) {
    if (!waiting.delete(keyText(document))) continue;
    const original = mostSimilar(
      document,
      (candidates.get(keyText(document)) ?? []).filter((candidate) => !waiting.has(keyText(candidate))),
    );
    if (original === null) continue;
    const cluster = joined.get(keyText(original)) ?? original.cluster;
    if (cluster !== null) {
      join(document, cluster);
      continue;
    }
    const elder = compareAge(original, document) < 0 ? original : document;
    join(original, elder);
    join(document, elder);
  }
  return joins;
}

/** The candidate most like a document, the elder of equals; null where none is a copy. */
function mostSimilar(document: Signed, candidates: readonly Signed[]): Signed | null {
  let best: Signed | null = null;
  let bestSimilarity = COPY_SIMILARITY;
  for (const candidate of [...candidates].sort(compareAge)) {
    const similarity = signatureSimilarity(document.signature, candidate.signature);
    if (similarity > bestSimilarity || (best === null && similarity === bestSimilarity)) {
      best = candidate;
      bestSimilarity = similarity;
    }
  }
  return best;
}

/** Elder first; the key decides between documents of one settle, as it does in the bands. */
function compareAge(a: Signed, b: Signed): number {
  if (a.firstSeenUs !== b.firstSeenUs) return a.firstSeenUs < b.firstSeenUs ? -1 : 1;
  if (a.domainKey !== b.domainKey) return a.domainKey < b.domainKey ? -1 : 1;
  return a.hash.compare(b.hash);
}
