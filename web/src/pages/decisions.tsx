// The decisions about a pool as a timeline: sizes, bids side by side, the choice and its reason.
import type { Decision, DecisionList } from '../api_types';
import { Badge, Choice, Empty, Folded, Json, Loaded, Section, Table, Time } from '../components';
import { pathOf, withQuery } from '../api';
import { count } from '../format';
import { ofPool, useResource } from '../resource';
import { route, setQuery } from '../route';

interface Offer {
  bidId: string;
  providerId: string;
  launchConfigId: string;
  instances: number;
  pricePerCapacityHour: number;
  reliability: number;
  weight: number;
  arithmetic: string;
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The bids of a selection, and how many instances of each were taken. */
export function bidsOf(decision: Decision): { offers: Offer[]; taken: Map<string, number>; problems: string[] } {
  const inputs = objectOf(decision.document.inputs);
  const outputs = objectOf(decision.document.outputs);
  const taken = new Map(listOf(outputs.choices).map(choice => {
    const { bidId, instances } = objectOf(choice);
    return [String(bidId), Number(instances)] as const;
  }));
  return { offers: listOf(inputs.offers) as Offer[], taken, problems: listOf(inputs.problems).map(String) };
}

function Bids({ decision }: { decision: Decision }) {
  const { offers, taken, problems } = bidsOf(decision);
  return (
    <>
      <Table<Offer>
        caption="bids" rows={offers} rowKey={offer => offer.bidId} empty="Nobody has bid."
        columns={[
          { name: 'Taken', number: true, cell: offer => (taken.get(offer.bidId) ? <strong>{taken.get(offer.bidId)}</strong> : '–') },
          { name: 'Provider', cell: offer => offer.providerId },
          { name: 'Launch configuration', cell: offer => <code>{offer.launchConfigId}</code> },
          { name: 'Instances', number: true, cell: offer => count(offer.instances) },
          { name: 'Price/h', number: true, cell: offer => offer.pricePerCapacityHour },
          { name: 'Reliability', number: true, cell: offer => offer.reliability },
          { name: 'Weight', number: true, cell: offer => Number(offer.weight).toFixed(2) },
          { name: 'Its arithmetic', wide: true, cell: offer => <Folded text={offer.arithmetic ?? ''} /> },
        ]}
      />
      {problems.map((problem, index) => <p key={index} class="warn">No bid: <Folded text={problem} /></p>)}
    </>
  );
}

const kinds: [string, string][] = [
  ['', 'all'], ['size', 'sizes'], ['select', 'bids and choices'], ['allocate', 'launches'], ['lifecycle', 'lives of workers'], ['configuration', 'configurations'],
];

export function Decisions({ pool }: { pool: string }) {
  const kind = route.value.query.get('kind') ?? '';
  const before = route.value.query.get('before') ?? '';
  const list = useResource<DecisionList>(
    withQuery(pathOf('pools', pool, 'decisions'), { limit: 50, kind, before }), before ? undefined : ofPool(pool));
  return (
    <Section title="Decisions" aside={<Choice label="Kind" value={kind} options={kinds} onChange={next => setQuery({ kind: next, before: undefined })} />}>
      <Loaded of={list} what="the decisions">
        {value => (
          <>
            {value.decisions.length === 0 && <Empty>No decision changed anything yet.</Empty>}
            <ol class="line">
              {value.decisions.map(decision => (
                <li key={decision.number}>
                  <div><Badge kind="info">{decision.kind}</Badge> <Time at={decision.at} /> <span class="quiet">{decision.digest}</span></div>
                  <Folded text={decision.reason} />
                  {decision.kind === 'select' ? <details><summary>Bids</summary><Bids decision={decision} /></details>
                    : <details><summary>Inputs and outputs</summary><Json value={decision.document} /></details>}
                </li>
              ))}
            </ol>
            <div class="buttons">
              {before && <button type="button" onClick={() => setQuery({ before: undefined })}>Newest</button>}
              {value.next !== undefined && <button type="button" onClick={() => setQuery({ before: String(value.next) })}>Older</button>}
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}
