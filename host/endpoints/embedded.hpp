// Files of the source tree, inside the program.
#pragma once

namespace muster::endpoints {

struct EmbeddedFile {
  const char* name;  // "v1/worker-full": below its folder and without ".json"
  const char* text;
};

}  // namespace muster::endpoints
