// The page of `muster simulate --html`: one file with everything in it, the same plots as the dashboard.
import { render } from 'preact';

import { Badge, Section, Table, Tile } from './components';
import { count, duration, money } from './format';
import { Plot } from './plot';
import './style.css';

interface Waits {
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

interface PoolFigures {
  workerPoolId?: string;
  tasks: number;
  done: number;
  waiting: number;
  interrupted: number;
  waitSeconds: Waits | null;
  launches: number;
  launchErrors: number;
  peakWorkers: number;
  machineHours: number;
  cost: number;
  verdict?: string;
}

interface Figures {
  configuration: string;
  currency: string;
  simulatedSeconds: number;
  pools: Record<string, PoolFigures> | (PoolFigures & { workerPoolId: string })[];
  total: PoolFigures;
  samples: { seconds: number; pending: number; requested: number; running: number }[];
  violations: string[];
}

interface Document extends Partial<Figures> {
  demand: string;
  seed: number;
  faults: string;
  strategy: string;
  configurations?: Figures[];
}

type Row = [string, PoolFigures];

const rowsOf = (figures: Figures): Row[] =>
  Array.isArray(figures.pools) ? figures.pools.map(pool => [pool.workerPoolId, pool]) : Object.entries(figures.pools);

const waitOf = (pool: PoolFigures, part: keyof Waits) => (pool.waitSeconds ? duration(pool.waitSeconds[part]) : '–');

function Configuration({ of }: { of: Figures }) {
  const { samples, total, currency } = of;
  const line = (name: 'pending' | 'requested' | 'running', colour: string, filled = false) =>
    ({ name, colour, filled, values: samples.map(sample => sample[name]) });
  return (
    <>
      <h2>{of.configuration}</h2>
      {of.violations.map(violation => <div key={violation} class="problem"><strong>An invariant was violated: </strong>{violation}</div>)}
      <div class="tiles">
        <Tile name="Tasks done" value={`${count(total.done)} of ${count(total.tasks)}`} kind={total.waiting ? 'warn' : ''} />
        <Tile name="Wait, p50" value={waitOf(total, 'p50')} note={`p90 ${waitOf(total, 'p90')}, most ${waitOf(total, 'max')}`} />
        <Tile name="Launches" value={count(total.launches)} note={`${count(total.launchErrors)} failed`} />
        <Tile name="Most workers at once" value={count(total.peakWorkers)} />
        <Tile name="Cost" value={`${money(total.cost)} ${currency}`} note={`${count(total.machineHours)} machine hours`} />
      </div>
      <Section title="Capacity and demand over time">
        <Plot title={`${of.configuration}: ${duration(of.simulatedSeconds)} simulated`} height={260} elapsed unit="capacity" times={samples.map(sample => sample.seconds)}
          lines={[line('running', '--plot-1', true), line('requested', '--plot-4'), line('pending', '--plot-3')]} />
      </Section>
      <Section title="Pools">
        <Table<Row> caption="pools" rows={rowsOf(of)} rowKey={([name]) => name} empty="No pool had tasks." columns={[
          { name: 'Pool', cell: ([name]) => <code>{name}</code> },
          { name: 'Tasks', number: true, cell: ([, pool]) => count(pool.tasks) },
          { name: 'Done', number: true, cell: ([, pool]) => count(pool.done) },
          { name: 'Never began', number: true, cell: ([, pool]) => (pool.waiting ? <span class="bad">{count(pool.waiting)}</span> : 0) },
          { name: 'Wait p50', number: true, cell: ([, pool]) => waitOf(pool, 'p50') },
          { name: 'p90', number: true, cell: ([, pool]) => waitOf(pool, 'p90') },
          { name: 'Most', number: true, cell: ([, pool]) => waitOf(pool, 'max') },
          { name: 'Launches', number: true, cell: ([, pool]) => count(pool.launches) },
          { name: 'Failed', number: true, cell: ([, pool]) => count(pool.launchErrors) },
          { name: `Cost (${currency})`, number: true, cell: ([, pool]) => money(pool.cost) },
          { name: 'At the end', wide: true, cell: ([, pool]) => pool.verdict ?? '' },
        ]} />
      </Section>
    </>
  );
}

function Comparison({ of: [first, second] }: { of: [Figures, Figures] }) {
  const names = [...new Set([...rowsOf(first), ...rowsOf(second)].map(([name]) => name))].sort();
  const poolOf = (figures: Figures, name: string) => rowsOf(figures).find(([each]) => each === name)?.[1];
  const both = (name: string, value: (pool: PoolFigures) => string) => {
    const texts = [first, second].map(figures => poolOf(figures, name)).map(pool => (pool ? value(pool) : '–'));
    return texts[0] === texts[1] ? texts[0] : <><span class="quiet">{texts[0]}</span> → <strong>{texts[1]}</strong></>;
  };
  return (
    <Section title={`${first.configuration} → ${second.configuration}`}>
      <Table caption="comparison" rows={names} rowKey={name => name} empty="No pool had tasks." columns={[
        { name: 'Pool', cell: name => <code>{name}</code> },
        { name: 'Wait p50', cell: name => both(name, pool => waitOf(pool, 'p50')) },
        { name: 'Wait p90', cell: name => both(name, pool => waitOf(pool, 'p90')) },
        { name: 'Never began', cell: name => both(name, pool => count(pool.waiting)) },
        { name: 'Launches', cell: name => both(name, pool => count(pool.launches)) },
        { name: `Cost (${first.currency})`, cell: name => both(name, pool => money(pool.cost)) },
      ]} />
    </Section>
  );
}

function Simulation({ of }: { of: Document }) {
  const all = of.configurations ?? [of as Figures];
  const [first, second] = all;
  return (
    <main>
      <h1>Simulation</h1>
      <p class="quiet">
        Demand of {of.demand === '-' ? 'standard input' : of.demand}, seed {of.seed}
        {of.faults !== 'none' && <>, <Badge kind="warning">{of.faults} faults</Badge></>}{of.strategy && `, strategy ${of.strategy}`}. Nothing was launched.
      </p>
      {first && second && <Comparison of={[first, second]} />}
      {all.map((figures, index) => <Configuration key={index} of={figures} />)}
    </main>
  );
}

const source = document.getElementById('simulation');
const place = document.getElementById('app');
if (source?.textContent && place) render(<Simulation of={JSON.parse(source.textContent) as Document} />, place);
