#include "tiny_json.h"

#include <stdlib.h>
#include <string.h>

enum { max_depth = 64 };

typedef struct reader {
  const char* at;
  const char* end;
} reader;

static void skip_space(reader* r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
    ++r->at;
}

static int take(reader* r, char c) {
  if (r->at == r->end || *r->at != c) return 0;
  ++r->at;
  return 1;
}

static int take_word(reader* r, const char* word) {
  const size_t size = strlen(word);
  if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) return 0;
  r->at += size;
  return 1;
}

static int is_digit(char c) {
  return c >= '0' && c <= '9';
}

static int take_digits(reader* r) {
  const char* begin = r->at;
  while (r->at < r->end && is_digit(*r->at)) ++r->at;
  return r->at > begin;
}

static int take_number(reader* r) {
  take(r, '-');
  if (!take(r, '0') && !take_digits(r)) return 0;
  if (take(r, '.') && !take_digits(r)) return 0;
  if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
    ++r->at;
    if (!take(r, '+')) take(r, '-');
    return take_digits(r);
  }
  return 1;
}

/* One character of more than one byte: no overlong form, no surrogate, nothing above U+10FFFF. */
static int take_utf8(reader* r) {
  const unsigned char lead = (unsigned char)*r->at;
  const int more = lead >= 0xc2 && lead <= 0xdf   ? 1
                   : (lead & 0xf0) == 0xe0        ? 2
                   : lead >= 0xf0 && lead <= 0xf4 ? 3
                                                  : 0;
  if (more == 0 || r->end - r->at <= more) return 0;
  const unsigned char second = (unsigned char)r->at[1];
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
    return 0;
  for (int i = 1; i <= more; ++i)
    if (((unsigned char)r->at[i] & 0xc0) != 0x80) return 0;
  r->at += more + 1;
  return 1;
}

static int take_escape(reader* r) {
  if (r->at == r->end) return 0;
  const char c = *r->at++;
  if (c != 'u') return strchr("\"\\/bfnrt", c) != NULL && c != '\0';
  for (int i = 0; i < 4; ++i, ++r->at)
    if (r->at == r->end || (!is_digit(*r->at) && !(*r->at >= 'a' && *r->at <= 'f') &&
                            !(*r->at >= 'A' && *r->at <= 'F')))
      return 0;
  return 1;
}

static int take_string(reader* r) {
  if (!take(r, '"')) return 0;
  while (r->at < r->end) {
    const unsigned char c = (unsigned char)*r->at;
    if (c == '"') return take(r, '"');
    if (c < 0x20) return 0;
    if (c >= 0x80) {
      if (!take_utf8(r)) return 0;
    } else {
      ++r->at;
      if (c == '\\' && !take_escape(r)) return 0;
    }
  }
  return 0;
}

static int take_value(reader* r, int depth);

static int take_container(reader* r, char open, char close, int depth) {
  if (depth == 0 || !take(r, open)) return 0;
  skip_space(r);
  if (take(r, close)) return 1;
  do {
    skip_space(r);
    if (open == '{') {
      if (!take_string(r)) return 0;
      skip_space(r);
      if (!take(r, ':')) return 0;
      skip_space(r);
    }
    if (!take_value(r, depth - 1)) return 0;
    skip_space(r);
  } while (take(r, ','));
  return take(r, close);
}

static int take_value(reader* r, int depth) {
  if (r->at == r->end) return 0;
  switch (*r->at) {
    case '{':
      return take_container(r, '{', '}', depth);
    case '[':
      return take_container(r, '[', ']', depth);
    case '"':
      return take_string(r);
    case 't':
      return take_word(r, "true");
    case 'f':
      return take_word(r, "false");
    case 'n':
      return take_word(r, "null");
    default:
      return take_number(r);
  }
}

int json_is_object(const char* text, size_t size, json_span* object) {
  if (size == 0) return 0;
  reader r = {text, text + size};
  skip_space(&r);
  object->begin = r.at;
  if (!take_container(&r, '{', '}', max_depth)) return 0;
  object->end = r.at;
  skip_space(&r);
  return r.at == r.end;
}

char json_kind(json_span value) {
  if (value.begin == NULL) return 0;
  const char c = *value.begin;
  return is_digit(c) || c == '-' ? '0' : c == 'f' ? 't' : c;
}

/* What follows was checked by json_is_object() and cannot fail. */
json_span json_member(json_span object, const char* name) {
  const json_span nothing = {NULL, NULL};
  const size_t size = strlen(name);
  reader r = {object.begin, object.end};
  if (!take(&r, '{')) return nothing;
  skip_space(&r);
  while (r.at < r.end && *r.at == '"') {
    const char* key = r.at + 1;
    take_string(&r);
    const int same = (size_t)(r.at - 1 - key) == size && memcmp(key, name, size) == 0;
    skip_space(&r);
    take(&r, ':');
    skip_space(&r);
    json_span value = {r.at, NULL};
    take_value(&r, max_depth);
    value.end = r.at;
    if (same) return value;
    skip_space(&r);
    take(&r, ',');
    skip_space(&r);
  }
  return nothing;
}

static json_span item_at(reader r, json_span array) {
  json_span item = {NULL, NULL};
  skip_space(&r);
  if (r.at >= array.end - 1) return item;
  item.begin = r.at;
  take_value(&r, max_depth);
  item.end = r.at;
  return item;
}

json_span json_first(json_span array) {
  reader r = {array.begin + 1, array.end};
  return item_at(r, array);
}

json_span json_next(json_span item, json_span array) {
  reader r = {item.end, array.end};
  skip_space(&r);
  take(&r, ',');
  return item_at(r, array);
}

int json_whole(json_span value, int64_t* number) {
  char text[64];
  const size_t size = (size_t)(value.end - value.begin);
  if (json_kind(value) != '0' || size >= sizeof text) return 0;
  memcpy(text, value.begin, size);
  text[size] = '\0';
  const double wide = strtod(text, NULL);
  if (!(wide >= -9007199254740992.0 && wide <= 9007199254740992.0)) return 0;
  *number = (int64_t)wide;
  return (double)*number == wide;
}
