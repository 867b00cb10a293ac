// What goes over the wire, without a client that hides it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import hawk from 'hawk';

import { Host, newSecret, poolOf } from './lib/host.mjs';
import { curl, send } from './lib/raw.mjs';

describe('raw requests', () => {
  let host, api, token;
  before(async () => {
    host = await Host.start();
    api = `${host.rootUrl}/api/worker-manager/v1`;
    token = ['-H', `Authorization: Bearer ${host.admin.token}`];
    const all = await host.client('test/all');
    await all.createWorkerPool('test/one', poolOf('rack'));
    await all.createWorker('test/one', 'row', 'machine', {
      expires: new Date(Date.now() + 86_400_000).toJSON(), providerInfo: { staticSecret: newSecret() },
    });
  });
  after(() => host?.end());

  const get = (path, ...more) => curl(api + path, ...token, ...more);
  const put = (path, body, type = 'application/json', ...more) =>
    curl(api + path, ...token, '-X', 'PUT', '-H', `Content-Type: ${type}`, '-H', 'Expect:', '--data-binary', body, ...more);
  const failure = async (answer, status, code, message) => {
    answer = await answer;
    assert.equal(answer.status, status, answer.body);
    const body = answer.json();
    assert.equal(body.code, code, answer.body);
    if (message) assert.match(body.message, message);
    return { ...answer, ...body };
  };

  it('of_unknown_places_are_answered_in_one_way', async () => {
    for (const [path, ...more] of [
      ['/nothing'], ['/Ping'], ['/ping/pong'], ['/worker-pool'], ['/providers', '-X', 'POST'], ['/worker-pools', '-X', 'DELETE'], ['/'],
    ]) {
      const answer = await get(path, ...more);
      assert.equal(answer.status, 404, path);
      assert.deepEqual(answer.json(), { error: 'Not found' }, path);
      assert.match(answer.headers['content-type'], /^application\/json/);
    }
  });

  it('may_write_the_slash_of_a_pool_either_way_where_nothing_follows', async () => {
    for (const path of ['/worker-pool/test%2Fone', '/worker-pool/test%2fone', '/worker-pool/test/one', '/worker-pool/test/one/stats', '/worker-pool/test%2Fone/stats'])
      assert.equal((await get(path)).status, 200, path);
    assert.equal((await get('/workers/test%2Fone')).status, 200);
    await failure(get('/workers/test/one'), 400, 'InvalidRequestArguments', /'workerPoolId' given as 'test'/);
    await failure(get('/worker-pool/test%252Fone'), 400, 'InvalidRequestArguments');
    await failure(get('/worker-pool/test%2F..%2Fone'), 400, 'InvalidRequestArguments');
    assert.equal((await get('/worker-pool-errors/test/one')).status, 200);
  });

  it('of_old_clients_have_a_colon_behind_the_pool', async () => {
    assert.equal((await get('/workers/test%2Fone:/row')).json().workers.length, 1);
    assert.equal((await get('/workers/test%2Fone:/row/machine')).json().workerId, 'machine');
    const body = JSON.stringify({ expires: new Date(Date.now() + 86_400_000).toJSON(), providerInfo: { staticSecret: newSecret() } });
    assert.equal((await put('/workers/test%2Fone:/row/old-client', body)).status, 200);
    assert.equal((await get('/workers/test%2Fone/row/old-client')).status, 200);
    assert.notEqual((await get('/workers/test%2Fone:/row/old-client', '-X', 'DELETE')).status, 200);
    assert.notEqual((await get('/workers/test%2Fone:/row/machine/should-terminate')).status, 200);
  });

  it('with_unknown_or_repeated_parameters_are_refused', async () => {
    await failure(get('/worker-pools?colour=red'), 400, 'InvalidRequestArguments', /Query-string parameter: colour is not supported!/);
    await failure(get('/worker-pools?limit=1&limit=2'), 400, 'InvalidRequestArguments', /limit must be a string/);
    await failure(get('/worker-pool/test%2Fone?limit=1'), 400, 'InvalidRequestArguments', /limit is not supported/);
    assert.equal((await get('/worker-pools?')).status, 200);
    assert.equal((await get('/worker-pools?%6Cimit=1')).json().workerPools.length, 1);
  });

  it('with_a_body_that_is_no_json_are_refused', async () => {
    const good = JSON.stringify(poolOf('rack'));
    await failure(put('/worker-pool/test%2Ftwo', good, 'text/plain'), 400, 'MalformedPayload', /content-type/);
    for (const bad of ['{', '{"a":1}x', '"text"', '7', 'null', '[1,]', '{"a":1,}', '\u0000', '{"a":\u0001}'])
      await failure(put('/worker-pool/test%2Ftwo', `@${host.file('bad.json', bad)}`), 400, 'MalformedPayload');
    await failure(put('/worker-pool/test%2Ftwo', '[]'), 400, 'InputValidationError', /must be object/);
    await failure(put('/worker-pool/test%2Ftwo', `${'['.repeat(50_000)}${']'.repeat(50_000)}`), 400, 'MalformedPayload');
    await failure(curl(`${api}/worker-pool/test%2Ftwo`, ...token, '-X', 'PUT'), 400, 'MalformedPayload');
    assert.equal((await put('/worker-pool/test%2Ftwo', good, 'application/json; charset=utf-8')).status, 200);
    assert.equal((await put('/worker-pool/test%2Ftwo', good, 'Application/JSON')).status, 200);
  });

  it('may_be_ten_megabytes_and_no_more', async () => {
    const body = length => {
      const empty = JSON.stringify(poolOf('rack', { description: '' }));
      return JSON.stringify(poolOf('rack', { description: 'x'.repeat(length - empty.length) }));
    };
    const large = host.file('large.json', body(10 * 1024 * 1024));
    await failure(put('/worker-pool/test%2Fthree', `@${large}`), 400, 'InputValidationError', /description must NOT have more than 10240 characters/);
    const larger = host.file('larger.json', body(10 * 1024 * 1024 + 1));
    const answer = await put('/worker-pool/test%2Fthree', `@${larger}`);
    assert.equal(answer.status, 413);
    assert.equal(answer.json().code, 'InputTooLarge');
  });

  it('are_answered_with_headers_that_clients_know', async () => {
    const { headers, body } = await get('/worker-pool/test%2Fone', '-H', 'x-taskcluster-trace-id: trace-1');
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(headers['x-for-trace-id'], 'trace-1');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.match(headers['cache-control'], /no-store/);
    assert.match(headers.etag, /^W\//);
    assert.equal(body, JSON.stringify(JSON.parse(body), null, 2), 'pretty, with two spaces');
    const ids = [await get('/ping'), await get('/ping'), await get('/nothing')].map(answer => answer.headers);
    for (const name of ['x-for-request-id', 'x-for-trace-id']) assert.equal(new Set(ids.map(answer => answer[name])).size, 3, name);
  });

  it('of_browsers_are_allowed_from_anywhere', async () => {
    const answer = await curl(
      `${api}/worker-pool/test%2Fone`, '-X', 'OPTIONS', '-H', 'Origin: https://ui.example.com',
      '-H', 'Access-Control-Request-Method: PUT', '-H', 'Access-Control-Request-Headers: authorization,content-type');
    assert.ok([200, 204].includes(answer.status), String(answer.status));
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.equal(answer.headers['access-control-max-age'], '900');
    for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS']) assert.match(answer.headers['access-control-allow-methods'], new RegExp(method));
    for (const header of ['X-Requested-With', 'Content-Type', 'Authorization', 'Accept', 'Origin', 'Cache-Control'])
      assert.match(answer.headers['access-control-allow-headers'], new RegExp(header));
  });

  it('for_the_head_alone_get_the_head_alone', async () => {
    const whole = await get('/worker-pool/test%2Fone');
    const [head] = await send(host.rootUrl, `HEAD /api/worker-manager/v1/worker-pool/test%2Fone HTTP/1.1\r\nHost: x\r\n${token[1]}\r\nConnection: close\r\n\r\n`);
    assert.equal(head.status, 200);
    assert.equal(head.body, '');
    assert.equal(head.headers['content-length'], whole.headers['content-length']);
    assert.equal(head.headers.etag, whole.headers.etag);
    assert.equal((await get('/worker-pool/test%2Fone', '-H', `If-None-Match: ${whole.headers.etag}`)).status, 304);
  });

  it('get_less_bytes_if_they_can_unpack_them', async () => {
    const path = '/references/worker-manager/v1/api.json';
    const plain = await curl(host.rootUrl + path);
    const packed = await curl(host.rootUrl + path, '-H', 'Accept-Encoding: gzip');
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.ok(Number(packed.headers['content-length']) < Number(plain.headers['content-length']) / 2);
    assert.match(packed.headers.vary, /accept-encoding/i);
    const unpacked = await fetch(host.rootUrl + path, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(await unpacked.text(), plain.body);
  });

  it('may_come_all_at_once_and_are_answered_in_their_order', async () => {
    const paths = ['/ping', '/worker-pool/test%2Fone', '/nothing', '/worker-pools?limit=1', '/__version__'];
    const request = (path, close) =>
      `GET /api/worker-manager/v1${path} HTTP/1.1\r\nHost: x\r\n${token[1]}\r\n${close ? 'Connection: close\r\n' : ''}\r\n`;
    const answers = await send(host.rootUrl, paths.map((path, i) => request(path, i === paths.length - 1)).join(''));
    assert.deepEqual(answers.map(answer => answer.status), [200, 200, 404, 200, 200]);
    assert.deepEqual(
      answers.map(answer => Object.keys(answer.json())[0]), ['alive', 'workerPoolId', 'error', 'workerPools', 'version']);
  });

  it('without_good_credentials_are_told_which_kind_to_show', async () => {
    const answer = await failure(curl(`${api}/worker-pools`, '-H', 'Authorization: Hawk id="x"'), 401, 'AuthenticationFailed');
    assert.match(answer.headers['www-authenticate'], /^hawk/i);
    await failure(curl(`${api}/worker-pools`, '-H', 'Authorization: Basic eDp5'), 401, 'AuthenticationFailed');
    await failure(curl(`${api}/worker-pools`, '-H', 'Authorization: Bearer wrong'), 401, 'AuthenticationFailed');
  });

  it('may_sign_their_body_too', async () => {
    const url = `${api}/worker-pool/test%2Fsigned`;
    const payload = JSON.stringify(poolOf('rack'));
    const { clientId: id, accessToken: key } = host.credentials['test/all'];
    const { header } = hawk.client.header(url, 'PUT', { credentials: { id, key, algorithm: 'sha256' }, payload, contentType: 'application/json' });
    const signed = body => curl(url, '-X', 'PUT', '-H', `Authorization: ${header}`, '-H', 'Content-Type: application/json', '--data-binary', body);
    await failure(signed(JSON.stringify(poolOf('rack', { owner: 'mallory@example.com' }))), 401, 'AuthenticationFailed');
    assert.equal((await signed(payload)).status, 200);
    const { header: old } = hawk.client.header(url, 'GET', { credentials: { id, key, algorithm: 'sha256' }, timestamp: Math.floor(Date.now() / 1000) - 1000 });
    await failure(curl(url, '-H', `Authorization: ${old}`), 401, 'AuthenticationFailed', /Stale timestamp/);
  });

  it('that_are_garbage_harm_nobody', async () => {
    for (const [bytes, ...statuses] of [
      ['\r\n\r\n'],
      ['GET\r\n\r\n', 400],
      ['GET / HTTP/9.9\r\n\r\n', 505],
      [`GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`, 414, 431],
      ['\x16\x03\x01\x02\x00\x01\x00\x01', 400],
      ['GET /api/worker-manager/v1/ping HTTP/1.1\r\nHost: x\r\n'],
      ['PUT /api/worker-manager/v1/worker-pool/a%2Fb HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef', 400],
      ['PUT /api/worker-manager/v1/worker-pool/a%2Fb HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{'],
    ])
      for (const answer of await send(host.rootUrl, bytes, { andNoMore: true }))
        assert.ok(statuses.length === 0 ? answer.status >= 400 : statuses.includes(answer.status), `${bytes.slice(0, 99)}: ${answer.status}`);
    assert.equal((await get('/ping')).status, 200);
  });
});
