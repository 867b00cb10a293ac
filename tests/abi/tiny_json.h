/* Just enough JSON for a plugin in plain C: checks a text and finds values in it. Allocates
 * nothing. */
#ifndef TINY_JSON_H
#define TINY_JSON_H

#include <stddef.h>
#include <stdint.h>

/* A value inside the text; `begin` is null if it is not there. */
typedef struct json_span {
  const char* begin;
  const char* end;
} json_span;

/* Whether the text is one JSON object in UTF-8, nested no deeper than 64 levels, and nothing else.
 */
int json_is_object(const char* text, size_t size, json_span* object);

char json_kind(
    json_span value); /* '{', '[', '"', '0' for a number, 't' for true and false, 'n' for null */

json_span json_member(json_span object, const char* name);

/* The first item of an array, and the one after an item. */
json_span json_first(json_span array);
json_span json_next(json_span item, json_span array);

/* Whether the value is a whole number that fits; 5.0 and 5e0 are. */
int json_whole(json_span value, int64_t* number);

#endif
