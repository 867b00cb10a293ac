// Private to this folder.
#pragma once

#include <memory>
#include <vector>

namespace muster::metrics {
class Page;
}

namespace muster::http {

class Lane;
struct Shared;

// THREADS: any, once the lanes run.
void write_traffic(metrics::Page& page, const Shared& shared,
                   const std::vector<std::shared_ptr<Lane>>& lanes);

}  // namespace muster::http
