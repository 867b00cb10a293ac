/* A whole plugin in plain C, with nothing of muster but its ABI header: a strategy that gives every
 * waiting unit a worker and takes the offers in their order. Built once against today's header and
 * once against that of ABI 1.0. */
#ifdef BUILT_AGAINST_ABI_1_0
#include "abi_1_0.h"
#else
#include <muster/abi.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiny_json.h"

static const char description[] =
    "{\"name\":\"" PLUGIN_NAME
    "\",\"version\":\"1.0.0\",\"description\":\"A strategy in plain C\","
    "\"configSchema\":{\"type\":\"object\",\"properties\":{\"spare\":{\"type\":\"integer\","
    "\"minimum\":0}}},"
    "\"exampleConfig\":{\"spare\":1}}";

typedef struct strategy {
  int64_t spare; /* capacity that is kept beyond what waits */
} strategy;

static void say(const muster_call* call, const char* text, size_t size) {
  const muster_bytes bytes = {text, size};
  call->reply(call->self, bytes);
}

static void say_text(const muster_call* call, const char* text) {
  say(call, text, strlen(text));
}

static muster_status wrong(const muster_call* call, const char* path, const char* what) {
  say_text(call, path);
  say_text(call, what);
  return MUSTER_INVALID;
}

/* Reads a whole number; says what is wrong if it is none. An optional one keeps its value when it
 * is absent. */
static int whole(const muster_call* call, json_span object, const char* name, int required,
                 int64_t* number) {
  const json_span value = json_member(object, name);
  if (value.begin == NULL) {
    if (required) wrong(call, name, ": is missing");
    return !required;
  }
  if (json_whole(value, number)) return 1;
  wrong(call, name, ": expected a whole number");
  return 0;
}

static int of_kind(const muster_call* call, json_span object, const char* name, int required,
                   char kind, json_span* value) {
  *value = json_member(object, name);
  if (value->begin == NULL) {
    if (required) wrong(call, name, ": is missing");
    return !required;
  }
  if (json_kind(*value) == kind) return 1;
  wrong(call, name, ": has the wrong type");
  return 0;
}

static int capacities(const muster_call* call, json_span object, int64_t* running,
                      int64_t* requested) {
  int64_t unused = 0;
  return whole(call, object, "running", 1, running) &&
         whole(call, object, "requested", 1, requested) &&
         whole(call, object, "stopping", 0, &unused) && whole(call, object, "idle", 0, &unused);
}

static int settings_of(const muster_call* call, json_span request, int64_t* min, int64_t* max) {
  json_span settings, unused;
  *min = 0;
  return of_kind(call, request, "settings", 1, '{', &settings) &&
         whole(call, settings, "minCapacity", 0, min) &&
         whole(call, settings, "maxCapacity", 1, max) &&
         of_kind(call, settings, "scalingRatio", 0, '0', &unused) &&
         of_kind(call, settings, "strategy", 0, '{', &unused);
}

static int check_history(const muster_call* call, json_span request) {
  json_span history;
  if (!of_kind(call, request, "history", 0, '[', &history)) return 0;
  if (history.begin == NULL) return 1;
  for (json_span point = json_first(history); point.begin != NULL;
       point = json_next(point, history)) {
    json_span at, capacity;
    int64_t unused;
    if (json_kind(point) != '{') return wrong(call, "history", ": has the wrong type"), 0;
    if (!of_kind(call, point, "at", 1, '"', &at) || !whole(call, point, "pending", 1, &unused) ||
        !of_kind(call, point, "capacity", 1, '{', &capacity) ||
        !capacities(call, capacity, &unused, &unused) ||
        !whole(call, point, "launched", 0, &unused) || !whole(call, point, "failed", 0, &unused))
      return 0;
  }
  return 1;
}

static muster_status size(const strategy* self, const muster_call* call, json_span request) {
  int64_t pending, running, requested, min, max;
  json_span capacity, pool;
  if (!of_kind(call, request, "workerPoolId", 1, '"', &pool) ||
      !whole(call, request, "pending", 1, &pending) ||
      !of_kind(call, request, "capacity", 1, '{', &capacity) ||
      !capacities(call, capacity, &running, &requested) ||
      !settings_of(call, request, &min, &max) || !check_history(call, request))
    return MUSTER_INVALID;
  const int64_t present = running + requested;
  int64_t wanted = running + pending + self->spare;
  if (wanted < min) wanted = min;
  if (wanted > max) wanted = max;
  char answer[200];
  const int length =
      snprintf(answer, sizeof answer,
               "{\"capacity\":%" PRId64 ",\"reason\":\"%" PRId64 " wanted, %" PRId64 " present\"}",
               wanted - present, wanted, present);
  say(call, answer, (size_t)length);
  return MUSTER_OK;
}

/* Checks an offer; `each` and `count` are what it offers, `id` its name with the quotes. */
static int read_offer(const muster_call* call, json_span offer, json_span* id, int64_t* each,
                      int64_t* count) {
  json_span bid, unused;
  if (json_kind(offer) != '{') return wrong(call, "offers", ": has the wrong type"), 0;
  return of_kind(call, offer, "bidId", 1, '"', id) &&
         of_kind(call, offer, "providerId", 1, '"', &unused) &&
         of_kind(call, offer, "weight", 0, '0', &unused) &&
         of_kind(call, offer, "bid", 1, '{', &bid) &&
         of_kind(call, bid, "launchConfigId", 1, '"', &unused) &&
         whole(call, bid, "capacityPerInstance", 1, each) &&
         whole(call, bid, "instances", 1, count) &&
         of_kind(call, bid, "pricePerCapacityHour", 1, '0', &unused) &&
         of_kind(call, bid, "reliability", 0, '0', &unused) &&
         of_kind(call, bid, "reason", 0, '"', &unused);
}

static muster_status select_offers(const muster_call* call, json_span request) {
  int64_t needed, min, max, seed = 0;
  json_span pool, offers, id;
  if (!of_kind(call, request, "workerPoolId", 1, '"', &pool) ||
      !whole(call, request, "capacity", 1, &needed) || !settings_of(call, request, &min, &max) ||
      !of_kind(call, request, "offers", 1, '[', &offers) || !whole(call, request, "seed", 0, &seed))
    return MUSTER_INVALID;
  int64_t each, count;
  for (json_span offer = json_first(offers); offer.begin != NULL; offer = json_next(offer, offers))
    if (!read_offer(call, offer, &id, &each, &count))
      return MUSTER_INVALID; /* before anything is said */
  say_text(call, "{\"choices\":[");
  const char* comma = "";
  for (json_span offer = json_first(offers); offer.begin != NULL && needed > 0;
       offer = json_next(offer, offers)) {
    read_offer(call, offer, &id, &each, &count);
    if (each < 1 || count < 1) continue;
    const int64_t enough = (needed - 1) / each + 1;
    const int64_t taken = count < enough ? count : enough;
    char number[64];
    const int length = snprintf(number, sizeof number, ",\"instances\":%" PRId64 "}", taken);
    say_text(call, comma);
    say_text(call, "{\"bidId\":");
    say(call, id.begin, (size_t)(id.end - id.begin));
    say(call, number, (size_t)length);
    needed -= taken * each;
    comma = ",";
  }
  say_text(call, "],\"reason\":\"the offers in their order\"}");
  return MUSTER_OK;
}

static muster_status create(const muster_call* call, void** instance) {
  json_span config;
  strategy made = {0};
  if (!json_is_object(call->request.data, call->request.size, &config))
    return wrong(call, "the configuration", " is no JSON object");
  if (!whole(call, config, "spare", 0, &made.spare)) return MUSTER_INVALID;
  strategy* kept = malloc(sizeof *kept);
  if (kept == NULL) return say_text(call, "no memory"), MUSTER_TRANSIENT;
  *kept = made;
  *instance = kept;
  return MUSTER_OK;
}

static int asks_for(const muster_call* call, const char* method) {
  return call->method.size == strlen(method) &&
         memcmp(call->method.data, method, call->method.size) == 0;
}

static muster_status call_method(void* instance, const muster_call* call) {
  json_span request;
  if (asks_for(call, "describe")) {
    say(call, description, sizeof description - 1);
    return MUSTER_OK;
  }
  if (!asks_for(call, "size") && !asks_for(call, "select")) {
    say_text(call, "there is no such method");
    return MUSTER_UNSUPPORTED;
  }
  if (instance == NULL) return wrong(call, "the call", " needs an instance");
  if (!json_is_object(call->request.data, call->request.size, &request))
    return wrong(call, "the request", " is no JSON object");
  return asks_for(call, "size") ? size(instance, call, request) : select_offers(call, request);
}

__attribute__((visibility("default"))) const muster_plugin muster_plugin_v1 = {
    .struct_size = sizeof(muster_plugin),
    .abi_minor = MUSTER_ABI_MINOR,
    .kind = "strategy",
    .name = PLUGIN_NAME,
    .version = "1.0.0",
    .create = create,
    .call = call_method,
    .destroy = free,
#if MUSTER_ABI_MINOR >= 1
    .built_with = "C compiler " __VERSION__,
#endif
};
