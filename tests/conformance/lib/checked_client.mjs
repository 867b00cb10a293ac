// Taskcluster's own client. Whatever it is answered is held against what the host publishes, and which of
// its methods were answered and refused is remembered.
import assert from 'node:assert/strict';

import taskcluster from 'taskcluster-client';

export const answered = new Set();
export const refusedMethods = new Set();

// The methods that the client was shipped with.
export const shippedMethods = Object.values(taskcluster.WorkerManager.prototype)
  .map(method => method.entryReference)
  .filter(entry => entry?.type === 'function');

export class CheckedClient {
  // `fromReference`: a client for all that the host says it can do, not just for what the client knows.
  constructor(published, { fromReference = false, ...options }) {
    const Client = fromReference
      ? taskcluster.createClient(published.references.api, 'WorkerManager')
      : taskcluster.WorkerManager;
    this.unchecked = new Client({ retries: 0, ...options });
    for (const method of Object.values(Client.prototype)) {
      const entry = method.entryReference;
      if (entry?.type === 'function') this[entry.name] = (...parameters) => this.#call(published, entry.name, parameters);
    }
  }

  async #call(published, name, parameters) {
    let answer;
    try {
      answer = await this.unchecked[name](...parameters);
    } catch (error) {
      if (error.statusCode === undefined) throw error;
      published.checkFailure(name, error.statusCode, error.body);
      refusedMethods.add(name);
      throw error;
    }
    published.checkAnswer(name, answer);
    answered.add(name);
    return answer;
  }

  // All pages of a list; `limit` of them at a time.
  async pages(name, key, parameters, query = {}) {
    const items = [];
    let continuationToken;
    do {
      const page = await this[name](...parameters, { ...query, ...(continuationToken && { continuationToken }) });
      items.push(...page[key]);
      ({ continuationToken } = page);
      if (continuationToken) assert.equal(page[key].length, Number(query.limit ?? 1000), 'a page in the middle is full');
    } while (continuationToken);
    return items;
  }
}

// Expects the failure, with this text before its footer; a RegExp must be found in it.
export async function refused(promise, statusCode, code, message = /./) {
  const error = await promise.then(
    answer => assert.fail(`should be refused with ${statusCode}, but was answered ${JSON.stringify(answer)}`),
    reason => reason,
  );
  if (error.statusCode === undefined) throw error;
  assert.equal(`${error.statusCode} ${error.code}`, `${statusCode} ${code}`, error.message);
  const text = error.message.slice(0, error.message.lastIndexOf('\n\n---\n\n'));
  if (message instanceof RegExp) assert.match(text, message);
  else assert.equal(text, message);
  return error;
}
