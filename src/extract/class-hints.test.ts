import { expect, test } from 'vitest';
import { nextNode, type Page, type PageNode, parsePage } from '../html/index.ts';
import { BLOCK_MODEL, decodeModel, encodeModel } from './block-model.ts';
import { checkOf, HINT_SLOTS, type Hints, hintReader, keysAround, slotOf, weigh } from './class-hints.ts';
import { collectMarks } from './marks.ts';

const read = (html: string) => parsePage(html, { url: 'https://example.com/a' });

function findTag(page: Page, tag: string): PageNode {
  for (let node: PageNode | null = page.body; node !== null; node = nextNode(node, page.body))
    if (node.tag === tag) return node;
  throw new Error(`no ${tag}`);
}

// Slots beside each other weigh nothing alike, so that one hardly passes for another.
const hints: Hints = {
  base: -0.25,
  scale: 0.5,
  weights: Int8Array.from({ length: HINT_SLOTS }, (_, i) => ((i * 37) % 255) - 127),
  checks: new Uint8Array(HINT_SLOTS),
};

/** What the names around an element should say, and hints that know all of them. */
function expectAt(page: Page, node: PageNode): { said: number; known: Hints } {
  const keys = keysAround(node, collectMarks(page).classes);
  const checks = Uint8Array.from(hints.checks);
  for (const key of keys) checks[slotOf(key)] = checkOf(key);
  const sum = keys.reduce((total, key) => total + hints.weights[slotOf(key)]!, 0);
  return { said: weigh(hints.base, sum * hints.scale, keys.length), known: { ...hints, checks } };
}

const hintAt = (page: Page, node: PageNode, known: Hints) =>
  hintReader(page.nodeCount, collectMarks(page).classes, known)(node);

test('a reader says what the weights of all names around say together', () => {
  const page = read(`<main class="site-main" id="main-7"><section class="entry entryBody2"><div>
    <p class="wp-block">A <b>text</b>.</p><blockquote id="x">Another</blockquote></div></section></main>`);
  const nodes = ['p', 'b', 'blockquote', 'div'].map((tag) => findTag(page, tag));
  const said = nodes.map((node) => expectAt(page, node).said);
  expect(new Set(said).size).toBe(said.length);
  for (const [i, node] of nodes.entries()) {
    const say = hintReader(page.nodeCount, collectMarks(page).classes, expectAt(page, node).known);
    expect(say(node)).toBeCloseTo(said[i]!, 3);
    // Once more, from what was kept.
    expect(say(node)).toBeCloseTo(said[i]!, 3);
  }
});

test('names that were not learnt say nothing, whatever weight lies in their place', () => {
  const page = read('<p class="unheard-of">Text</p>');
  const node = findTag(page, 'p');
  const { known } = expectAt(page, node);
  const checks = known.checks.map((check) => check ^ 1);
  expect(hintAt(page, node, { ...known, checks })).toBe(hints.base);
  expect(hintAt(page, node, known)).not.toBe(hints.base);
});

test('names count by how near they are, and not beyond six elements up', () => {
  const keysAt = (name: string, depth: number) => {
    const page = read(`<div class="${name}">${'<div>'.repeat(depth)}<p>Text</p>`);
    return keysAround(findTag(page, 'p'), collectMarks(page).classes);
  };
  const ofName = (depth: number) =>
    keysAt('related', depth).filter((key) => !keysAt('', depth).includes(key));
  // The name and its one word.
  expect(ofName(0)).toHaveLength(2);
  expect(ofName(1)).toEqual(ofName(0));
  expect(ofName(2)).not.toEqual(ofName(1));
  expect(ofName(5)).toEqual(ofName(2));
  expect(ofName(6)).toEqual([]);
});

test('long class lists and those with letters of other scripts are read as far as others', () => {
  const long = Array.from({ length: 60 }, (_, i) => `utility-${String.fromCharCode(97 + (i % 26))}x`).join(
    ' ',
  );
  for (const name of [long, 'статья text', 'a&amp;b text']) {
    const page = read(`<p class="${name}">Text</p>`);
    const owner = findTag(page, 'p');
    const hashes = collectMarks(page).classes.hashes(owner.index);
    expect(hashes.length).toBeGreaterThan(0);
    expect(hashes.length).toBeLessThan(100);
    const { said, known } = expectAt(page, owner);
    expect(hintAt(page, owner, known)).toBeCloseTo(said, 3);
  }
});

test('a model is the same after packing', () => {
  const packed = encodeModel({ ...BLOCK_MODEL, hints });
  const again = decodeModel(packed);
  expect(again.hints).toEqual(hints);
  expect(again.trees).toEqual(BLOCK_MODEL.trees);
});

test('the shipped hints know names of related stories from those of texts', () => {
  const say = (name: string) => {
    const page = read(`<div class="${name}"><p>Text</p></div>`);
    return hintAt(page, findTag(page, 'p'), BLOCK_MODEL.hints);
  };
  expect(say('entry-content')).toBeGreaterThan(say('related-posts') + 0.5);
});
