// Files of this folder that the program carries inside.
#pragma once

namespace muster::config {

extern const char* const schema_text;  // host_configuration.schema.json
extern const char* const default_text;
extern const char* const default_workers_text;  // default.toml

}  // namespace muster::config
