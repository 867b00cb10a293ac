// The file of this folder that the program carries inside.
#pragma once

namespace muster::relay {

extern const char* const schema_text;  // relay_configuration.schema.json

}  // namespace muster::relay
