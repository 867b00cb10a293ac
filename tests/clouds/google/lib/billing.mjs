// Google's price list, as the catalogue of Cloud Billing has it: processors and memory by family and region.
import { prices, regions } from './catalogue.mjs';
import { Refusal } from './refusal.mjs';

const units = value => ({ currencyCode: 'USD', units: String(Math.floor(value)), nanos: Math.round((value % 1) * 1e9) });
const families = { e2: 'E2', n2: 'N2', c2: 'Compute optimized', c3: 'C3', t2a: 'T2A Arm', a2: 'A2' };
const places = { 'us-central1': 'Americas', 'us-east1': 'Americas', 'europe-west1': 'Belgium', 'asia-east1': 'Taiwan' };

export class Billing {
  constructor(identities, settings) {
    Object.assign(this, { identities, settings });
  }

  skus(query) {
    const all = regions.flatMap(({ name: region }) => Object.entries(prices).flatMap(([family, [cpu, memory, spotCpu, spotMemory]]) => [
      this.#sku(region, family, 'Core', 'CPU', 'OnDemand', cpu), this.#sku(region, family, 'Ram', 'RAM', 'OnDemand', memory),
      this.#sku(region, family, 'Core', 'CPU', 'Preemptible', spotCpu), this.#sku(region, family, 'Ram', 'RAM', 'Preemptible', spotMemory),
    ]));
    const size = Math.min(Number(query.get('pageSize') || 5000), 5000);
    const from = Number(query.get('pageToken') || 0);
    if (!Number.isInteger(size) || !Number.isInteger(from)) throw new Refusal('badRequest', 'Request contains an invalid argument.');
    return { skus: all.slice(from, from + size), nextPageToken: from + size < all.length ? String(from + size) : '' };
  }

  #sku(region, family, part, group, usageType, value) {
    const spot = usageType === 'Preemptible';
    const price = value * (this.settings.priceFactors[`${region} ${family}`] ?? 1);
    const skuId = Buffer.from(`${region}${family}${part}${usageType}`).toString('hex').toUpperCase().replace(/(.{4})(?=.)/g, '$1-').slice(-14);
    return {
      name: `services/6F81-5844-456A/skus/${skuId}`, skuId,
      description: `${spot ? 'Spot Preemptible ' : ''}${families[family]} ${family === 'c2' && !spot ? '' : 'Instance '}${part} running in ${places[region]}`,
      category: { serviceDisplayName: 'Compute Engine', resourceFamily: 'Compute', resourceGroup: group, usageType },
      serviceRegions: [region], serviceProviderName: 'Google', geoTaxonomy: { type: 'REGIONAL', regions: [region] },
      pricingInfo: [{
        summary: '', currencyConversionRate: 1, effectiveTime: '2024-06-01T00:00:00.000Z',
        pricingExpression: {
          usageUnit: part === 'Ram' ? 'GiBy.h' : 'h', displayQuantity: 1, baseUnit: part === 'Ram' ? 'By.s' : 's', baseUnitConversionFactor: 3600,
          tieredRates: [{ startUsageAmount: 0, unitPrice: units(price) }],
        },
      }],
    };
  }
}
