import { decideUrlFilter, identifyUrl } from '../url/index.ts';
import type { IngestSettings } from './response.ts';

// Titles end in these words ("/blog/introducing-node.js"), and what is no page answers with its type.
const wordsLikeExtensions = 'bin css key less map mjs js json numbers pages ps scss'.split(' ');

/**
 * What of a channel's entries is no matter for the frontier: files, what the source's patterns leave out, traps, and of
 * other sites forms, shops and servers of files. Counted by reason. Whose addresses are taken at all is decided elsewhere.
 */
export class ChannelFilter {
  readonly refused: Record<string, number> = {};
  readonly #rules: { include?: readonly string[]; exclude?: readonly string[] };

  constructor({ source }: Pick<IngestSettings, 'source'>) {
    const { include, exclude } = source?.settings ?? {};
    this.#rules = { ...(include ? { include } : {}), ...(exclude ? { exclude } : {}) };
  }

  /** Whether an entry goes on. What is no address is refused where it is submitted. */
  passes(url: string, base: string, isOwn: boolean): boolean {
    const identified = identifyUrl(url, { base });
    if (identified.outcome === 'rejected') return true;
    const decision = decideUrlFilter(identified.identity, {
      ...this.#rules,
      allowExtensions: wordsLikeExtensions,
      // A site may publish what it likes below /account/ or on static.example.com, and says so by listing it.
      allowUtilityPaths: isOwn,
    });
    if (decision.outcome === 'pass') return true;
    this.refused[decision.reason] = (this.refused[decision.reason] ?? 0) + 1;
    return false;
  }
}
