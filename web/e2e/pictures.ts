import { mkdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isForPictures } from './script';
import type { Visitor } from './visitor';

const FOLDER = resolve(import.meta.dirname, '../../docs/screenshots');
const MOST_BYTES = 200_000;

/** A picture of the page for the documents, if they are asked for: `UPDATE_SCREENSHOTS=1`. */
export async function takePicture(visitor: Visitor, name: string): Promise<void> {
  if (!isForPictures()) return;
  mkdirSync(FOLDER, { recursive: true });
  const path = resolve(FOLDER, `${name}.png`);
  await visitor.page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${name}.png has ${size} bytes; at most ${MOST_BYTES}`);
}
