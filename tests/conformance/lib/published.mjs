// The documents that a musterd publishes, and whether its answers keep to them.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

import Ajv from 'ajv';
import addFormats from 'ajv-formats';

const draft6 = createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-06.json');

const statusOf = {
  MalformedPayload: 400,
  InvalidRequestArguments: 400,
  InputValidationError: 400,
  InputError: 400,
  AuthenticationFailed: 401,
  InsufficientScopes: 403,
  ResourceNotFound: 404,
  RequestConflict: 409,
  ResourceExpired: 410,
  InputTooLarge: 413,
  TooManyRequests: 429,
  InternalServerError: 500,
  ProviderSetupFailed: 503,
};

const failureSchema = {
  type: 'object',
  required: ['code', 'message', 'requestInfo'],
  additionalProperties: false,
  properties: {
    code: { enum: Object.keys(statusOf) },
    message: { type: 'string' },
    requestInfo: {
      type: 'object',
      required: ['method', 'params', 'payload', 'time'],
      additionalProperties: false,
      properties: {
        method: { type: 'string' },
        params: { type: 'object', additionalProperties: { type: 'string' } },
        payload: { type: ['object', 'array', 'string'] },
        time: { type: 'string', format: 'date-time' },
      },
    },
  },
};

async function readDocument(url) {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  assert.match(answer.headers.get('content-type'), /^application\/json/, url);
  return answer.json();
}

// All addresses of other documents that a document names.
function* namedIn(document, base) {
  if (Array.isArray(document)) for (const item of document) yield* namedIn(item, base);
  if (document === null || typeof document !== 'object' || Array.isArray(document)) return;
  for (const [key, value] of Object.entries(document)) {
    if ((key === '$ref' || key === '$schema') && typeof value === 'string') yield new URL(value, base).href.split('#')[0];
    else yield* namedIn(value, base);
  }
}

export class Published {
  documents = new Map(); // by address
  #ajv = addFormats(new Ajv({ strict: false, allErrors: true })).addMetaSchema(draft6);
  #failure = this.#ajv.compile(failureSchema);

  static async read(rootUrl) {
    const published = new Published();
    published.rootUrl = rootUrl;
    published.manifest = await readDocument(`${rootUrl}/references/manifest.json`);
    published.references = {};
    for (const url of published.manifest.references) {
      const reference = await readDocument(url);
      published.references[url.match(/([^/]+)\.json$/)[1]] = reference;
      await published.#follow(reference.$schema.split('#')[0]);
      for (const entry of reference.entries ?? [])
        for (const file of [entry.input, entry.output, entry.schema])
          if (file) await published.#follow(published.#schemaUrl(file));
    }
    await published.#follow(published.manifest.$schema.split('#')[0]);
    // What a schema is must be known before the schema.
    const metaschemas = ['metaschema', 'metadata-metaschema'].map(name => `${rootUrl}/schemas/common/${name}.json`);
    for (const url of metaschemas) published.#ajv.addMetaSchema(published.documents.get(url));
    for (const [url, schema] of published.documents) if (!metaschemas.includes(url)) published.#ajv.addSchema(schema);
    return published;
  }

  async #follow(url) {
    if (this.documents.has(url) || url.startsWith('http://json-schema.org/')) return;
    const document = await readDocument(url);
    this.documents.set(url, document);
    for (const other of namedIn(document, url)) await this.#follow(other);
  }

  #schemaUrl(file) {
    return `${this.rootUrl}/schemas/worker-manager/${file.replace(/#$/, '')}`;
  }

  entry(method) {
    return this.references.api.entries.find(entry => entry.name === method);
  }

  exchange(exchange) {
    return this.references.exchanges.entries.find(entry => entry.exchange === exchange);
  }

  // `schema`: an address, or a file as references name them.
  check(schema, document) {
    const url = schema.includes('://') ? schema : this.#schemaUrl(schema);
    const validate = this.#ajv.getSchema(url) ?? assert.fail(`no schema ${url}`);
    assert.ok(
      validate(document),
      `not as ${url} says: ${this.#ajv.errorsText(validate.errors)}\n${JSON.stringify(document, null, 2)}`,
    );
  }

  checkAnswer(method, answer) {
    const { output } = this.entry(method);
    if (output) this.check(output, answer);
    else assert.equal(typeof answer, 'object', method);
  }

  checkFailure(method, statusCode, body) {
    assert.ok(this.#failure(body), `${this.#ajv.errorsText(this.#failure.errors)}\n${JSON.stringify(body, null, 2)}`);
    assert.equal(statusCode, statusOf[body.code], body.code);
    assert.equal(body.requestInfo.method, method);
    const tail = `\n\n---\n\n* method:     ${method}\n* errorCode:  ${body.code}\n* statusCode: ${statusCode}\n* time:       ${body.requestInfo.time}`;
    assert.ok(body.message.endsWith(tail), body.message);
  }
}
