// Waiting for what other processes do. Nothing here waits longer than it must, or for ever.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

const usualPatience = 30_000;

// Asks again and again until the answer is true, and returns it. `what`: in words, or who says it at the end.
export async function until(what, ask, patience = usualPatience) {
  const end = Date.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) assert.fail(`this never came true: ${typeof what === 'function' ? await what() : what}`);
    await pause(10);
  }
}

// Rejects if the promise takes too long.
export async function inTime(what, promise) {
  const stop = new AbortController();
  const late = pause(usualPatience, undefined, { signal: stop.signal }).then(
    () => assert.fail(`this took too long: ${what}`),
    () => {},
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}

// What comes one by one, and is waited for by what it looks like.
export class Arrivals {
  all = [];
  #waiting = new Set();

  add(item) {
    this.all.push(item);
    for (const look of this.#waiting) look();
  }

  // The first that fits, of those that came and those that come.
  async first(what, fits) {
    return (await this.list(what, 1, fits))[0];
  }

  async list(what, count, fits) {
    let look;
    const found = new Promise(resolve => {
      look = () => {
        const fitting = this.all.filter(fits);
        if (fitting.length >= count) resolve(fitting.slice(0, count));
      };
      look();
      this.#waiting.add(look);
    });
    try {
      return await inTime(what, found);
    } catch (error) {
      error.message += `; there came: ${JSON.stringify(this.all).slice(0, 4000)}`;
      throw error;
    } finally {
      this.#waiting.delete(look);
    }
  }
}
