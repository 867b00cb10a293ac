// Files of this folder that the plugin carries inside.
#pragma once

namespace muster::aws {

extern const char* const model_text;       // model.json
extern const char* const errors_text;      // errors.json
extern const char* const partitions_text;  // partitions.json

}  // namespace muster::aws
