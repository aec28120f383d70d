import { expect, test } from 'vitest';
import { parsePage } from '../html/index.ts';
import { readBlocks } from './blocks.ts';
import { readProse } from './container.ts';

const sentence = 'The keeper of the lamp went up the stairs each evening and wrote down';
test.each([
  ['eighty letters and a full stop', `${sentence} what he saw.`, 1],
  ['fewer', `${sentence}.`, 0],
  ['no end', `${sentence} what he saw`, 0],
  [
    'forty letters of a script without spaces',
    '守灯人每天傍晚走上楼梯，点亮港口的灯，然后把他在海上看到的一切都写在本子上，直到最后一艘船回来。',
    1,
  ],
  ['twenty of them', '守灯人每天傍晚走上楼梯，点亮港口的灯，然后写下来。', 0],
])('a line of %s is a paragraph or none', (_, text, expected) => {
  const blocks = readBlocks(parsePage(`<body><p>${text}</p></body>`, { url: 'https://post.example/a' }));
  expect([...readProse(blocks)].slice(0, 1)).toEqual([expected]);
});
