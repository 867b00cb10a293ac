// The files of schemas/, inside the program.
#pragma once

#include <span>

namespace muster::taskcluster_api {

struct EmbeddedSchema {
  const char* name;  // "v1/worker-full" or "common/metaschema"
  const char* text;
};

std::span<const EmbeddedSchema> embedded_schemas();

}  // namespace muster::taskcluster_api
