// Azure's public retail prices.
import { locations, sizes } from './catalogue.mjs';
import { Refusal } from './refusal.mjs';

// What filters call it, and what items call it where that differs.
const names = ['serviceName', 'serviceFamily', 'armRegionName', 'armSkuName', 'skuName', 'productName', 'meterName', 'priceType', 'currencyCode'];
const wrong = text => new Refusal('BadRequest', `Invalid OData parameters supplied: ${text}`);

export class Prices {
  constructor(settings) {
    this.settings = settings;
  }

  list(query, url) {
    const all = locations.flatMap(location => sizes.flatMap(size => [false, true].flatMap(spot => ['', ' Windows'].map(system => this.#item(location, size, spot, system)))));
    const fits = parse(query.get('$filter') ?? '');
    const found = all.filter(item => fits(item));
    const from = Number(query.get('$skip') ?? 0);
    const page = found.slice(from, from + 100);
    const next = new URLSearchParams(query);
    next.set('$skip', String(from + 100));
    return { BillingCurrency: 'USD', CustomerEntityId: 'Default', CustomerEntityType: 'Retail', Items: page, NextPageLink: from + 100 < found.length ? `${url}/api/retail/prices?${next}` : null, Count: page.length };
  }

  #item(location, size, spot, system) {
    const price = (spot ? size.spot : size.price) * (system ? 2 : 1) * (this.settings.priceFactors[`${location} ${size.name}`] ?? this.settings.priceFactors[location] ?? 1);
    return {
      currencyCode: 'USD', tierMinimumUnits: 0, retailPrice: price, unitPrice: price, armRegionName: location, location, effectiveStartDate: '2024-06-01T00:00:00Z', meterId: `${location}-${size.name}`,
      meterName: `${size.name.replace(/^Standard_/, '').replace(/_/g, ' ')}${spot ? ' Spot' : ''}`, productName: `Virtual Machines ${size.family}${system ? ` Series${system}` : ' Series'}`, skuName: `${size.name.replace(/^Standard_/, '').replace(/_/g, ' ')}${spot ? ' Spot' : ''}`,
      serviceName: 'Virtual Machines', serviceId: 'DZH313Z7MMC8', serviceFamily: 'Compute', unitOfMeasure: '1 Hour', type: 'Consumption', isPrimaryMeterRegion: true, armSkuName: size.name,
    };
  }
}

// "serviceName eq 'Virtual Machines' and (armSkuName eq 'A' or armSkuName eq 'B') and contains(skuName, 'Spot')"
export function parse(text) {
  let at = 0;
  const take = pattern => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const known = name => {
    if (!names.includes(name)) throw wrong(name);
    return name === 'priceType' ? 'type' : name;
  };
  const one = () => {
    if (take(/\s*not\s+/y)) {
      const inner = one();
      return item => !inner(item);
    }
    if (take(/\s*\(/y)) {
      const inner = any();
      if (!take(/\s*\)/y)) throw wrong(text);
      return inner;
    }
    const contains = take(/\s*(contains|endswith|startswith)\(\s*(\w+)\s*,\s*'([^']*)'\s*\)/y);
    if (contains) return item => item[known(contains[2])][{ contains: 'includes', endswith: 'endsWith', startswith: 'startsWith' }[contains[1]]](contains[3]);
    const compared = take(/\s*(\w+)\s+(eq|ne)\s+'([^']*)'/y);
    if (!compared) throw wrong(text);
    const field = known(compared[1]);
    return item => (item[field] === compared[3]) === (compared[2] === 'eq');
  };
  const both = () => {
    const parts = [one()];
    while (take(/\s+and\s+/y)) parts.push(one());
    return item => parts.every(part => part(item));
  };
  const any = () => {
    const parts = [both()];
    while (take(/\s+or\s+/y)) parts.push(both());
    return item => parts.some(part => part(item));
  };
  if (text.trim() === '') return () => true;
  const fits = any();
  if (text.slice(at).trim() !== '') throw wrong(text);
  return fits;
}
