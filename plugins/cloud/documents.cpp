#include "plugins/cloud/documents.hpp"

#include <stdexcept>
#include <string>

namespace muster::cloud {

std::string_view Documents::text(std::string_view name) const {
  for (const File& file : files_)
    if (file.name == name) return file.text;
  throw std::logic_error("the plugin has no document " + std::string(name));
}

json::value Documents::read(std::string_view name) const {
  return json::parse(text(name)).value();
}

}  // namespace muster::cloud
