// What the fleet does, as the host's own API tells it. Everything that comes from there is shown as text, never as markup.
'use strict';

const base = '/api/muster/v1/';
const every = 2000;
const shownEvents = 200;
const $ = (id) => document.getElementById(id);

let token = sessionStorage.getItem('token') ?? '';
let chosen = null;  // the pool whose workers are shown
let lastEvent = null;

// A link may bring the token behind the '#', which no server sees; it does not stay in the address.
const brought = new URLSearchParams(location.hash.slice(1)).get('token');
if (brought) {
  token = brought;
  history.replaceState(null, '', location.pathname);
}

class Refused extends Error {}

async function get(path) {
  const answer = await fetch(base + path, {headers: {Authorization: `Bearer ${token}`}, cache: 'no-store'});
  const document = await answer.json();
  if (answer.status === 401 || answer.status === 403) throw new Refused(document.message);
  if (!answer.ok) throw new Error(document.message ?? `the host answered ${answer.status}`);
  return document;
}

function row(cells) {
  const tr = document.createElement('tr');
  for (const cell of cells) {
    const td = tr.insertCell();
    if (cell instanceof Node) td.append(cell);
    else td.textContent = cell ?? '';
    if (typeof cell === 'number') td.className = 'number';
  }
  return tr;
}

function word(text) {
  const span = document.createElement('span');
  span.className = text;
  span.textContent = text;
  return span;
}

function fill(table, rows) {
  $(table).tBodies[0].replaceChildren(...rows);
  $(table).parentElement.querySelector('.empty').hidden = rows.length > 0;
}

function poolRow(pool) {
  const name = document.createElement('button');
  name.textContent = pool.workerPoolId;
  name.addEventListener('click', () => { chosen = pool.workerPoolId; refresh(); });
  const {requested, running, busy, draining, stopping} = pool.capacity;
  const tr = row([name, word(pool.verdict.kind), pool.verdict.text, pool.pending, requested, running, busy, draining, stopping]);
  tr.setAttribute('aria-selected', String(pool.workerPoolId === chosen));
  return tr;
}

function workerRow(worker) {
  const state = worker.drain && worker.drain !== 'none' ? `${worker.state}, ${worker.drain}` : worker.state;
  const cell = word(worker.state);
  cell.textContent = state;
  return row([`${worker.workerGroup}/${worker.workerId ?? ''}`, cell, worker.reason, worker.providerId, worker.launchConfigId,
              worker.since ? new Date(worker.since).toLocaleTimeString() : '']);
}

function showProblems(status) {
  const list = [...(status.configurationProblems ?? [])].map(String);
  $('problems').hidden = list.length === 0;
  $('problems').querySelector('ul').replaceChildren(...list.map((text) => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  }));
}

async function showEvents() {
  if (lastEvent === null) lastEvent = Math.max(0, (await get('events?limit=1')).newest - shownEvents);
  const page = await get(`events?after=${lastEvent}&limit=${shownEvents}`);
  for (const event of page.events) {
    const item = document.createElement('li');
    item.value = event.number;
    const time = document.createElement('time');
    time.dateTime = event.at;
    time.textContent = new Date(event.at).toLocaleTimeString();
    item.append(time, ` ${event.kind} ${event.workerPoolId ?? ''} ${event.workerId ?? ''} ${event.text ?? ''}`);
    $('events').prepend(item);
    lastEvent = event.number;
  }
  while ($('events').children.length > shownEvents) $('events').lastChild.remove();
}

async function refresh() {
  try {
    const [status, {pools}] = await Promise.all([get('status'), get('pools')]);
    sessionStorage.setItem('token', token);
    $('login').hidden = true;
    $('fleet').hidden = false;
    $('state').textContent = `${status.version ?? ''} ${status.state ?? ''}`;
    showProblems(status);
    chosen ??= pools[0]?.workerPoolId ?? null;
    fill('pools', pools.map(poolRow));
    $('of-pool').textContent = chosen ? `of ${chosen}` : '';
    const workers = chosen ? (await get(`pools/${encodeURIComponent(chosen)}/workers`)).workers : [];
    fill('workers', workers.map(workerRow));
    await showEvents();
  } catch (error) {
    if (!(error instanceof Refused)) {
      $('state').textContent = `the host does not answer: ${error.message}`;
      if (/gone|after=/.test(error.message)) lastEvent = null;  // events that were too old: begin anew
      return;
    }
    $('fleet').hidden = true;
    $('login').hidden = false;
    $('state').textContent = '';
    $('refused').textContent = token ? error.message : '';
    token = '';
    sessionStorage.removeItem('token');
  }
}

$('login').addEventListener('submit', (event) => {
  event.preventDefault();
  token = $('token').value.trim();
  $('token').value = '';
  refresh();
});
async function forever() {
  if (!document.hidden && $('login').hidden) await refresh();
  setTimeout(forever, every);
}
if (token) forever();
else { $('login').hidden = false; $('state').textContent = ''; forever(); }
